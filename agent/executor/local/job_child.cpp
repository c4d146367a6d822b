#include "agent/executor/local/job_child.hpp"

#include "agent/executor/local/environment.hpp"
#include "agent/executor/local/job_limits.hpp"
#include "core/base/file.hpp"
#include "schema/link/attempt_detail.hpp"

#include <array>
#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <grp.h>
#include <linux/close_range.h>
#include <pwd.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

// The child of a process with one thread: it may allocate and use the library freely.

namespace fathom::agent {
namespace {

constexpr std::size_t kMaxOrderBytes = 64UL << 20U;

struct ChildPlan {
    const SupervisorOrder& order;
    const AttemptFolder& folder;
    std::vector<std::string> command;
    int parent{};
    int stdout_fd{};
    int stderr_fd{};
    int report_fd{};
};

[[noreturn]] void give_up(int report_fd, const std::string& step, int error)
{
    std::string text = step;
    if (error != 0) text += ": " + std::error_code(error, std::generic_category()).message();
    // A short write could only shorten the text.
    static_cast<void>(!::write(report_fd, text.data(), text.size()));
    ::_exit(127);
}

[[noreturn]] void give_up(const ChildPlan& plan, const std::string& step, int error)
{
    give_up(plan.report_fd, step, error);
}

void reset_signals()
{
    sigset_t none;
    ::sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
    for (int signal = 1; signal < NSIG; ++signal)
        ::signal(signal, SIG_DFL);
}

void redirect(const ChildPlan& plan)
{
    const int null = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (null < 0 || ::dup2(null, STDIN_FILENO) < 0 || ::dup2(plan.stdout_fd, STDOUT_FILENO) < 0 ||
        ::dup2(plan.stderr_fd, STDERR_FILENO) < 0)
        give_up(plan, "cannot redirect its output", errno);
}

void join_groups(const ChildStart& start)
{
    for (const std::string& file : start.join_files) {
        const int fd = ::open(file.c_str(), O_WRONLY | O_CLOEXEC);
        if (fd < 0 || ::write(fd, "0", 1) != 1)
            give_up(start.report_fd, "cannot join its control group " + file, errno);
        ::close(fd);
    }
}

/// After the control groups were joined: a cpuset changes the affinity.
void confine(const ChildPlan& plan)
{
    const std::vector<std::int64_t>& cpus = plan.order.run.cpus;
    if (!cpus.empty()) {
        const auto count = static_cast<std::size_t>(*std::max_element(cpus.begin(), cpus.end())) + 1;
        cpu_set_t* set = CPU_ALLOC(count);
        const std::size_t size_bytes = CPU_ALLOC_SIZE(count);
        CPU_ZERO_S(size_bytes, set);
        for (const std::int64_t cpu : cpus)
            CPU_SET_S(static_cast<std::size_t>(cpu), size_bytes, set);
        if (::sched_setaffinity(0, size_bytes, set) != 0) give_up(plan, "cannot bind to its processors", errno);
        CPU_FREE(set);
    }
    limit_resources(plan.order);
}

/// The home folder of a user with a name, if it is his: a job must not leave anything there for the next one.
std::filesystem::path home_of(const JobUser& user)
{
    const passwd* entry = ::getpwuid(user.uid);
    struct stat facts{};
    const bool is_own = entry != nullptr && ::stat(entry->pw_dir, &facts) == 0 && facts.st_uid == user.uid;
    return is_own ? entry->pw_dir : "";
}

void enter_own_view(const ChildPlan& plan)
{
    const SupervisorOrder& order = plan.order;
    const JobView view{.work = plan.folder.work(),
                       .programs = order.programs,
                       .temporary = plan.folder.path(),
                       .hidden = order.hidden,
                       .home = order.user ? home_of(*order.user) : std::filesystem::path(),
                       .shared = order.shared,
                       .memory_bytes = order.run.memory_bytes,
                       .own_processes = order.isolation.processes};
    // It worked when the agent started. A job that would run in the open instead is not to run.
    if (const std::string problem = enter_view(view); !problem.empty())
        give_up(plan, "cannot be separated from other jobs: " + problem, 0);
}

JobPlace take_place(const ChildPlan& plan)
{
    const bool has_view = plan.order.isolation.files;
    if (has_view) enter_own_view(plan);
    if (!plan.order.user) {
        const passwd* self = ::getpwuid(::getuid());
        return {plan.folder.work().string(), plan.order.programs.string(), self != nullptr ? self->pw_name : "root"};
    }
    if (has_view) return {kViewWork, kViewPrograms, plan.order.user->name};
    // Without mount namespaces (in most containers) the job must be able to walk to its real folder.
    ::chmod(plan.folder.path().c_str(), 0711);
    return {plan.folder.work().string(), plan.order.programs.string(), plan.order.user->name};
}

void drop_privileges(const ChildPlan& plan)
{
    if (const std::optional<JobUser>& user = plan.order.user) {
        if (::setgroups(0, nullptr) != 0 || ::setgid(user->gid) != 0 || ::setuid(user->uid) != 0)
            give_up(plan, "cannot become user " + user->name, errno);
    }
    if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) give_up(plan, "cannot renounce new privileges", errno);
    // After the change of user, which clears it. The parent may have died before.
    // In a PID namespace the parent has no number, and the first process sees to it.
    if (::prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || (!plan.order.isolation.processes && ::getppid() != plan.parent))
        give_up(plan, "cannot be tied to its supervisor", errno);
}

/// The command as it is started: below fathom-profile when the job asked for it and this center has it.
std::vector<std::string> started_command(const ChildPlan& plan, const JobPlace& place)
{
    if (!plan.order.run.order.profile) return plan.command;
    const std::string profiler = place.programs + "/fathom-profile";
    if (::access(profiler.c_str(), X_OK) != 0) return plan.command; // supervise() says that the profile is missing
    std::vector<std::string> command{profiler, "--output", "json", "--output-file", kProfileName, "--"};
    command.insert(command.end(), plan.command.begin(), plan.command.end());
    return command;
}

[[noreturn]] void execute(const ChildPlan& plan, const JobPlace& place)
{
    std::vector<std::string> lines;
    std::string search_path;
    for (const auto& [name, value] : job_environment(plan.order.run, place)) {
        lines.push_back(name + "=" + value);
        if (name == "PATH") search_path = value;
    }
    std::vector<char*> variables;
    for (std::string& line : lines)
        variables.push_back(line.data());
    variables.push_back(nullptr);
    std::vector<std::string> command = started_command(plan, place);
    std::vector<char*> arguments;
    for (std::string& argument : command)
        arguments.push_back(argument.data());
    arguments.push_back(nullptr);

    ::close_range(3, ~0U, CLOSE_RANGE_CLOEXEC);
    environ = variables.data(); // execvp() searches the PATH of the environment in force
    ::execvp(arguments[0], arguments.data());
    const int error = errno;
    std::string step = std::string(link::kProgramNotStarted) + command[0] + "\"";
    if (error == ENOENT && command[0].find('/') == std::string::npos) step += " (PATH is " + search_path + ")";
    give_up(plan, step, error);
}

[[noreturn]] void become_job(const ChildPlan& plan)
{
    char answer = 0;
    if (::send(plan.report_fd, kJobIsHere.data(), kJobIsHere.size(), MSG_NOSIGNAL) < 0 ||
        ::recv(plan.report_fd, &answer, 1, 0) != 1)
        ::_exit(127);
    ::setsid();
    redirect(plan);
    confine(plan);
    const JobPlace place = take_place(plan);
    drop_privileges(plan);
    ::umask(077);
    if (::chdir(place.work.c_str()) != 0)
        give_up(plan,
                "cannot enter " + place.work + " as user " + place.user +
                    " (let that user pass all folders above it, or choose another state folder or run_as)",
                errno);
    execute(plan, place);
}

/// The folder of the attempt; ends this process when the supervisor has none for it.
std::string wait_for_folder(int go_fd)
{
    std::string folder;
    std::array<char, 4096> block{};
    for (;;) {
        const ssize_t size = ::read(go_fd, block.data(), block.size());
        if (size < 0 && errno == EINTR) continue;
        if (size <= 0) break;
        folder.append(block.data(), static_cast<std::size_t>(size));
    }
    if (folder.empty()) ::_exit(0);
    return folder;
}

std::vector<std::string> ordered_command(const AttemptOrder& order)
{
    if (order.script.empty()) return order.command;
    const std::string script = std::string("./") + kJobScriptName;
    if (order.script.starts_with("#!")) return {script};
    return {"/bin/sh", script};
}

} // namespace

void wait_to_start_job(const ChildStart& start)
{
    ::prctl(PR_SET_NAME, "fathom-job", 0, 0, 0);
    reset_signals();
    join_groups(start);
    const AttemptFolder folder(wait_for_folder(start.go_fd));
    // A process of its own, since ours is as old as the supervisor, and programs take that for the time of their start.
    // As a child of our parent, which watches it; in our groups and namespaces. No thread holds a lock here.
    const long pid = ::syscall(SYS_clone, CLONE_PARENT | SIGCHLD, nullptr, nullptr, nullptr, nullptr);
    if (pid < 0) give_up(start.report_fd, "cannot make a process", errno);
    if (pid > 0) ::_exit(0);
    const Result<std::string> text = read_file(folder.order(), kMaxOrderBytes);
    const Result<SupervisorOrder> order = text ? decode_supervisor_order(*text) : Result<SupervisorOrder>(text.error());
    if (!order) give_up(start.report_fd, "cannot read its order: " + order.error().detail, 0);
    become_job({*order, folder, ordered_command(order->run.order), start.parent, start.stdout_fd, start.stderr_fd,
                start.report_fd});
}

} // namespace fathom::agent
