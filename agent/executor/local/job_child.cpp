#include "agent/executor/local/job_child.hpp"

#include "agent/executor/local/environment.hpp"
#include "agent/executor/local/job_limits.hpp"
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
#include <sys/stat.h>
#include <unistd.h>

// The child of a process with one thread: it may allocate and use the library freely.

namespace fathom::agent {
namespace {

[[noreturn]] void give_up(const ChildPlan& plan, const std::string& step, int error)
{
    std::string text = step;
    if (error != 0) text += ": " + std::error_code(error, std::generic_category()).message();
    // A short write could only shorten the text.
    static_cast<void>(!::write(plan.report_fd, text.data(), text.size()));
    ::_exit(127);
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

/// Control groups first: joining a cpuset changes the affinity.
void confine(const ChildPlan& plan)
{
    for (const std::string& file : plan.join_files) {
        const int fd = ::open(file.c_str(), O_WRONLY | O_CLOEXEC);
        if (fd < 0 || ::write(fd, "0", 1) != 1) give_up(plan, "cannot join its control group " + file, errno);
        ::close(fd);
    }
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

} // namespace

void become_job(const ChildPlan& plan)
{
    ::setsid();
    reset_signals();
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

} // namespace fathom::agent
