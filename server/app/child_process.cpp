#include "server/app/child_process.hpp"

#include "core/base/argument_pointers.hpp"
#include "core/base/error_text.hpp"
#include "core/base/open_file.hpp"
#include "core/base/process_limits.hpp"
#include "core/base/wait_for_child.hpp"

#include <cerrno>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace fathom::server {
namespace {

constexpr std::size_t kMaxQuoted = 600; // bytes of a failed program's output in an error

/// What the child needs, made before fork(): between fork() and exec() of a program with threads only
/// async-signal-safe calls are allowed, so no allocation.
struct Plan {
    const char* path;
    char* const* arguments;
    char* const* environment;
    const char* folder;
    bool is_background;
    const char* group_file;  ///< null: stay
    rlim_t address_space;    ///< 0: stay
    std::size_t descriptors; ///< as many as we were started with
    const UnixUser* user;    ///< null: stay
    int input;
    int output;
    int errors;
    int inherited;
    int death_signal;
    pid_t parent;
    int report; ///< pipe: errno when something failed; closes at exec
};

bool set_signals_to_default()
{
    for (int number = 1; number < 32; ++number)
        signal(number, SIG_DFL); // SIGKILL and SIGSTOP refuse, rightly
    sigset_t none;
    sigemptyset(&none);
    return sigprocmask(SIG_SETMASK, &none, nullptr) == 0;
}

bool arrange_descriptors(const Plan& plan)
{
    if (dup2(plan.input, 0) < 0 || dup2(plan.output, 1) < 0 || dup2(plan.errors, 2) < 0) return false;
    if (close_range(3, ~0U, CLOSE_RANGE_CLOEXEC) != 0) return false;
    return plan.inherited < 0 || fcntl(plan.inherited, F_SETFD, 0) == 0;
}

bool write_to(const char* path, const char* text)
{
    const int file = open(path, O_WRONLY | O_CLOEXEC);
    if (file < 0) return false;
    const bool is_done = write(file, text, strlen(text)) > 0;
    close(file);
    return is_done;
}

/// Last of all that want a processor. Each session is a group of its own to the kernel where sched_autogroup_enabled is
/// on, as by default, and groups share evenly whatever the niceness of their processes: the group has to be nice, too.
/// Measured beside a busy process of another session: nice 19 and SCHED_IDLE alone take 50 % of the processor from it,
/// with the group 1.6 %. What cannot be had is left out.
void enter_background()
{
    setpriority(PRIO_PROCESS, 0, 19);
    const sched_param none{};
    sched_setscheduler(0, SCHED_IDLE, &none);
    write_to("/proc/self/autogroup", "19");
}

bool limit(const Plan& plan)
{
    if (plan.group_file != nullptr) write_to(plan.group_file, "0"); // the limits below do nearly the same
    if (plan.is_background) enter_background();
    if (plan.address_space == 0) return true;
    const rlimit bound{plan.address_space, plan.address_space};
    return setrlimit(RLIMIT_AS, &bound) == 0;
}

[[noreturn]] void child_main(const Plan& plan)
{
    setsid();
    const int program = open(plan.path, O_PATH | O_CLOEXEC);
    set_descriptor_limit(plan.descriptors);
    const bool ready = chdir(plan.folder) == 0 && limit(plan) && set_signals_to_default() &&
                       arrange_descriptors(plan) && (plan.user == nullptr || become(*plan.user)) &&
                       // After the change of user, which clears it.
                       (plan.death_signal == 0 || prctl(PR_SET_PDEATHSIG, plan.death_signal) == 0) &&
                       // No set-user-id program gives it back what it gave up.
                       prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0;
    // The parent may have died before PDEATHSIG was set.
    if (ready && (plan.death_signal == 0 || getppid() == plan.parent)) {
        execve(plan.path, plan.arguments, plan.environment);
        // A folder above may be closed to the user: a clone below /root, say. By descriptor second: it spoils the name
        // in ps.
        if (errno == EACCES && program >= 0)
            syscall(SYS_execveat, program, "", plan.arguments, plan.environment, AT_EMPTY_PATH);
    }
    const int error = errno;
    [[maybe_unused]] const ssize_t written = write(plan.report, &error, sizeof error);
    _exit(127);
}

Error system_error(const std::string& what, int code)
{
    return {Errc::kUnavailable, what + ": " + error_text(code)};
}

/// Who started us may have SIGCHLD ignored; then the kernel reaps children, and none could tell how it ended.
void hear_of_children()
{
    struct sigaction action{};
    if (sigaction(SIGCHLD, nullptr, &action) == 0 && action.sa_handler == SIG_IGN) signal(SIGCHLD, SIG_DFL);
}

std::string last_lines(const std::string& text)
{
    std::string end = text.size() > kMaxQuoted ? "…" + text.substr(text.size() - kMaxQuoted) : text;
    while (end.ends_with('\n'))
        end.pop_back();
    return end;
}

/// All that comes until nobody has the other end open. False: that is not so by the deadline.
bool read_to_end(int fd, std::chrono::steady_clock::time_point deadline, std::string& text)
{
    char buffer[4096];
    while (wait_for_input(fd, deadline)) {
        const ssize_t size = read(fd, buffer, sizeof buffer);
        if (size == 0 || (size < 0 && errno != EINTR)) return true;
        if (size > 0) text.append(buffer, static_cast<std::size_t>(size));
        if (std::chrono::steady_clock::now() >= deadline) return false; // also of one that never stops writing
    }
    return false;
}

} // namespace

Result<pid_t> start_child(const ChildOptions& options)
{
    hear_of_children();
    std::vector<std::string> copies = options.arguments;
    std::vector<std::string> variables = options.environment;
    const std::vector<char*> arguments = argument_pointers(copies);
    const std::vector<char*> environment = argument_pointers(variables);

    int pipe_ends[2];
    if (pipe2(pipe_ends, O_CLOEXEC) != 0) return system_error("pipe", errno);
    const OpenFile report_read(pipe_ends[0]);
    OpenFile report_write(pipe_ends[1]);
    const OpenFile null(open("/dev/null", O_RDWR | O_CLOEXEC));
    const int output = options.output >= 0 ? options.output : null.number();
    const Plan plan{copies[0].c_str(),
                    arguments.data(),
                    variables.empty() ? environ : environment.data(),
                    options.folder.c_str(),
                    options.is_background,
                    options.group_file.empty() ? nullptr : options.group_file.c_str(),
                    options.address_space_bytes,
                    descriptor_limit_at_start(),
                    options.user ? &*options.user : nullptr,
                    options.input >= 0 ? options.input : null.number(),
                    output,
                    options.errors >= 0 ? options.errors : output,
                    options.inherited,
                    options.signal_on_parent_death,
                    getpid(),
                    report_write.number()};
    const pid_t child = fork();
    if (child < 0) return system_error("fork", errno);
    if (child == 0) child_main(plan);
    report_write = OpenFile();
    int code = 0;
    ssize_t size = 0;
    do
        size = read(report_read.number(), &code, sizeof code);
    while (size < 0 && errno == EINTR);
    if (size == 0) return child; // closed by a successful exec
    waitpid(child, nullptr, 0);
    return system_error("cannot start " + options.arguments[0], code);
}

Result<std::string> run_child(ChildOptions options, std::chrono::milliseconds limit)
{
    const auto deadline = std::chrono::steady_clock::now() + limit;
    int pipe_ends[2];
    if (pipe2(pipe_ends, O_CLOEXEC) != 0) return system_error("pipe", errno);
    const OpenFile output_read(pipe_ends[0]);
    OpenFile output_write(pipe_ends[1]);
    options.output = output_write.number();
    const Result<pid_t> child = start_child(options);
    if (!child) return child.error();
    output_write = OpenFile();
    if (options.started) options.started(*child);
    std::string output;
    const bool is_in_time = read_to_end(output_read.number(), deadline, output) && wait_for_child(*child, deadline);
    if (!is_in_time) kill(-*child, SIGKILL); // its session began with it
    if (options.started) options.started(0);
    int status = 0;
    const pid_t ended = reap_child(*child, status);
    if (!is_in_time)
        return Error{Errc::kDeadline, options.arguments[0] + " took longer than " +
                                          std::to_string(std::chrono::ceil<std::chrono::seconds>(limit).count()) +
                                          " s and was killed: " + last_lines(output)};
    if (ended < 0) return system_error("how " + options.arguments[0] + " ended is not known", errno);
    if (status == 0) return output;
    return Error{Errc::kUnavailable,
                 options.arguments[0] + " ended with " + describe_exit(status) + ": " + last_lines(output)};
}

std::string describe_exit(int status)
{
    if (WIFEXITED(status)) return "exit code " + std::to_string(WEXITSTATUS(status));
    if (!WIFSIGNALED(status)) return "status " + std::to_string(status);
    const int number = WTERMSIG(status);
    const char* const name = sigabbrev_np(number);
    return "signal " + std::to_string(number) + (name == nullptr ? "" : " (SIG" + std::string(name) + ")");
}

} // namespace fathom::server
