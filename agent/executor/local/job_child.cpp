#include "agent/executor/local/job_child.hpp"

#include "agent/executor/local/job_limits.hpp"
#include "agent/executor/local/profile_report.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <linux/close_range.h>
#include <pwd.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

// Children of a process with one thread, whose memory they may share and which waits until they are done: they may
// allocate and use the library freely, but own nothing any more when they run another program or end.

namespace fathom::agent {
namespace {

[[noreturn]] void give_up(const JobStart& start, std::string_view step, int error,
                          StartFailure failure = StartFailure::kCenters)
{
    {
        std::string text(1, static_cast<char>(failure));
        text += step;
        if (error != 0) text += ": " + std::error_code(error, std::generic_category()).message();
        // A short write could only shorten the text.
        static_cast<void>(!::write(start.report_fd, text.data(), text.size()));
    }
    ::_exit(127);
}

/// What signals do by default they do in the supervisor already.
void unblock_signals()
{
    sigset_t none;
    ::sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
}

void redirect(const JobStart& start)
{
    const int null = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (null < 0 || ::dup2(null, STDIN_FILENO) < 0 || ::dup2(start.stdout_fd, STDOUT_FILENO) < 0 ||
        ::dup2(start.stderr_fd, STDERR_FILENO) < 0)
        give_up(start, "cannot redirect its output", errno);
}

void join_groups(const JobStart& start)
{
    for (const std::string& file : start.join_files) {
        const int fd = ::open(file.c_str(), O_WRONLY | O_CLOEXEC);
        if (fd < 0 || ::write(fd, "0", 1) != 1) give_up(start, "cannot join its control group " + file, errno);
        ::close(fd);
    }
}

/// After the control groups were joined: a cpuset changes the affinity.
void confine(const JobStart& start)
{
    const std::vector<std::int64_t>& cpus = start.order.run.cpus;
    if (!cpus.empty()) {
        const auto count = static_cast<std::size_t>(*std::max_element(cpus.begin(), cpus.end())) + 1;
        cpu_set_t* set = CPU_ALLOC(count);
        const std::size_t size_bytes = CPU_ALLOC_SIZE(count);
        CPU_ZERO_S(size_bytes, set);
        for (const std::int64_t cpu : cpus)
            CPU_SET_S(static_cast<std::size_t>(cpu), size_bytes, set);
        if (::sched_setaffinity(0, size_bytes, set) != 0) give_up(start, "cannot bind to its processors", errno);
        CPU_FREE(set);
    }
    limit_resources(start.order);
}

void take_place(const JobStart& start)
{
    if (!start.order.isolation.files) return;
    // It worked when the agent started. A job that would run in the open instead is not to run.
    if (const std::string problem = enter_view(start.view); !problem.empty())
        give_up(start, "cannot be separated from other jobs: " + problem, 0);
}

/// By plain calls: the library's would change the user of all threads that it knows of, also of a process whose memory
/// this one shares.
void drop_privileges(const JobStart& start)
{
    if (const std::optional<JobUser>& user = start.order.user) {
        if (::syscall(SYS_setgroups, 0, nullptr) != 0 || ::syscall(SYS_setgid, user->gid) != 0 ||
            ::syscall(SYS_setuid, user->uid) != 0)
            give_up(start, "cannot become user " + user->name, errno);
    }
    if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) give_up(start, "cannot renounce new privileges", errno);
    // After the change of user, which clears it. The parent may have died before.
    // In a PID namespace the parent has no number, and the first process sees to it.
    if (::prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || (!start.order.isolation.processes && ::getppid() != start.parent))
        give_up(start, "cannot be tied to its supervisor", errno);
}

/// Last of all: what came before it may need what it takes away.
void filter_system_calls(const JobStart& start)
{
    if (start.filter == nullptr) return;
    if (const int error = start.filter->load(); error != 0) give_up(start, "cannot filter its system calls", error);
}

[[noreturn]] void execute(JobStart& start)
{
    const bool is_profiled = start.order.run.order.profile && ::access(start.profiler.c_str(), X_OK) == 0;
    // Where the profiler is missing, supervise() says so.
    char* const* arguments = (is_profiled ? start.profiled_arguments : start.arguments).get();
    ::close_range(3, ~0U, CLOSE_RANGE_CLOEXEC);
    for (const int file : start.open_files)
        ::fcntl(file, F_SETFD, 0);
    environ = const_cast<char**>(start.variables.get()); // execvp() searches the PATH of the environment in force
    ::execvp(arguments[0], arguments);
    const int error = errno;
    const bool was_searched =
        error == ENOENT && start.stager.empty() && start.command[0].find('/') == std::string::npos;
    const std::string program = arguments[0] + std::string("\"");
    // That fathom-stage is not there is not the job's failure.
    if (!start.stager.empty()) give_up(start, "cannot stage its inputs and outputs: no \"" + program, error);
    give_up(start, "cannot start \"" + program + (was_searched ? " (PATH is " + start.search_path + ")" : ""), error,
            StartFailure::kPrograms);
}

int become_job(void* argument)
{
    auto& start = *static_cast<JobStart*>(argument);
    ::setsid();
    redirect(start);
    confine(start);
    take_place(start);
    drop_privileges(start);
    ::umask(077);
    if (::chdir(start.place.work.c_str()) != 0)
        give_up(start,
                "cannot enter " + start.place.work + " as user " + start.place.user +
                    " (let that user pass all folders above it, or choose another state folder or run_as)",
                errno);
    filter_system_calls(start);
    execute(start);
}

/// The home folder of a user with a name, if it is his: a job must not leave anything there for the next one.
std::filesystem::path home_of(const JobUser& user)
{
    const passwd* entry = ::getpwuid(user.uid);
    struct stat facts{};
    const bool is_own = entry != nullptr && ::stat(entry->pw_dir, &facts) == 0 && facts.st_uid == user.uid;
    return is_own ? entry->pw_dir : "";
}

JobView view_of(const SupervisorOrder& order, const AttemptFolder& folder)
{
    return {.work = folder.work(),
            .programs = order.programs,
            .temporary = folder.path(),
            .gpu_memory = order.gpu_memory,
            .hidden = order.hidden,
            .home = order.user ? home_of(*order.user) : order.home,
            .shows_home = order.shows_home,
            .shared = order.shared,
            .hidden_files = order.run.hidden_files,
            .memory_bytes = order.run.memory_bytes,
            .own_processes = order.isolation.processes};
}

JobPlace place_of(const SupervisorOrder& order, const AttemptFolder& folder)
{
    if (!order.user) {
        const passwd* self = ::getpwuid(::getuid());
        return {folder.work().string(), order.programs.string(), self != nullptr ? self->pw_name : "root",
                order.gpu_memory.string()};
    }
    if (!order.isolation.files)
        return {folder.work().string(), order.programs.string(), order.user->name, order.gpu_memory.string()};
    return {kViewWork, kViewPrograms, order.user->name, order.gpu_memory.empty() ? "" : kViewGpuMemory};
}

std::vector<std::string> ordered_command(const RunOrder& run)
{
    std::vector<std::string> words = run.before;
    const AttemptOrder& order = run.order;
    const std::string script = std::string("./") + kJobScriptName;
    if (order.script.empty())
        words.insert(words.end(), order.command.begin(), order.command.end());
    else if (order.script.starts_with("#!"))
        words.push_back(script);
    else
        words.insert(words.end(), {"/bin/sh", script});
    return words;
}

/// The command below fathom-stage, where there is something to stage or to store.
std::vector<std::string> staged(const std::string& stager, const std::vector<std::string>& command)
{
    if (stager.empty()) return command;
    std::vector<std::string> all{stager, "--"};
    all.insert(all.end(), command.begin(), command.end());
    return all;
}

std::vector<std::string> profiled(const RunOrder& run, const std::string& profiler,
                                  const std::vector<std::string>& command)
{
    std::vector<std::string> all = profiler_options(run);
    all.insert(all.begin(), profiler);
    all.emplace_back("--");
    all.insert(all.end(), command.begin(), command.end());
    return all;
}

std::vector<std::string> environment_lines(const RunOrder& run, const JobPlace& place)
{
    std::vector<std::string> lines;
    for (const auto& [name, value] : job_environment(run, place))
        lines.push_back(name + "=" + value);
    return lines;
}

std::string search_path_of(const RunOrder& run, const JobPlace& place)
{
    return job_environment(run, place)["PATH"];
}

} // namespace

TextList::TextList(std::vector<std::string> texts) : texts_(std::move(texts))
{
    for (std::string& text : texts_)
        pointers_.push_back(text.data());
    pointers_.push_back(nullptr);
}

JobStart::JobStart(const SupervisorOrder& job_order, const AttemptFolder& job_folder, int supervisor)
    : order(job_order), folder(job_folder), parent(supervisor), place(place_of(order, folder)),
      view(view_of(order, folder)), command(ordered_command(order.run)), search_path(search_path_of(order.run, place)),
      profiler(place.programs + "/fathom-profile"),
      stager(uses_staging(order.run.order) ? place.programs + "/" + kStagingProgram : ""),
      variables(environment_lines(order.run, place)), arguments(staged(stager, command)),
      profiled_arguments(staged(stager, profiled(order.run, profiler, command)))
{
}

int be_starter(void* argument)
{
    join_groups(*static_cast<JobStart*>(argument));
    return be_joined_starter(argument);
}

int be_joined_starter(void* argument)
{
    auto& start = *static_cast<JobStart*>(argument);
    ::prctl(PR_SET_NAME, "fathom-job", 0, 0, 0);
    unblock_signals();
    JobPids made;
    if (start.lifeline) {
        const Result<int> init = start_init(*start.lifeline, *start.init_stack, InitParent::kCallersParent);
        if (!init) give_up(start, init.error().detail, 0);
        made.init = *init;
        static_cast<void>(!::write(start.pids_fd, &made, sizeof made));
    }
    // As a child of our parent, which watches it; in our groups and namespaces.
    const int memory = may_share_memory() ? CLONE_VM : 0;
    made.job = start.job_stack->start(CLONE_PARENT | CLONE_VFORK | memory, &become_job, &start);
    if (made.job < 0) give_up(start, "cannot make a process", errno);
    static_cast<void>(!::write(start.pids_fd, &made, sizeof made));
    ::_exit(0);
}

} // namespace fathom::agent
