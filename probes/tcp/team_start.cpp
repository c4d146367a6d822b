#include "probes/tcp/team_start.hpp"

#include "core/base/argument_pointers.hpp"
#include "core/base/wait_for_child.hpp"
#include "probes/tcp/connection.hpp"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <fcntl.h>
#include <sys/prctl.h>
#include <unistd.h>

namespace fathom::probes {
namespace {

/// For processes that were told to end, and their launcher; then for the signal.
constexpr std::chrono::seconds kOwnEndLimit{1};
constexpr std::chrono::seconds kEndLimit{1};

/// @return whether all have ended by `deadline`
bool have_ended(const std::vector<pid_t>& children, std::chrono::steady_clock::time_point deadline)
{
    return std::all_of(children.begin(), children.end(), [&](pid_t child) { return wait_for_child(child, deadline); });
}

/// In the child. @return false: the parent ended before it could be told of that
bool become_child(pid_t parent, int end_signal)
{
    ::prctl(PR_SET_PDEATHSIG, end_signal);
    if (::getppid() != parent) return false;
    const int nothing = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
    return nothing >= 0 && ::dup2(nothing, STDIN_FILENO) >= 0 && ::dup2(STDERR_FILENO, STDOUT_FILENO) >= 0;
}

} // namespace

StartedTeam::~StartedTeam()
{
    // A batch system notes a launcher that a signal ends as one that has failed. But it ends what it has started on
    // other hosts: it is asked first.
    if (!have_ended(children_, std::chrono::steady_clock::now() + kOwnEndLimit)) {
        for (const pid_t child : children_)
            ::kill(child, SIGTERM);
    }
    const auto deadline = std::chrono::steady_clock::now() + kEndLimit;
    for (const pid_t child : children_) {
        if (!wait_for_child(child, deadline)) ::kill(child, SIGKILL);
        int ignored = 0;
        reap_child(child, ignored);
    }
}

Result<void> StartedTeam::fork_member(const std::function<int()>& work)
{
    const pid_t parent = ::getpid();
    const pid_t child = ::fork();
    if (child == 0) ::_exit(become_child(parent, SIGKILL) ? work() : 127);
    if (child < 0) return tcp_error("cannot start a process");
    children_.push_back(child);
    return {};
}

Result<void> StartedTeam::launch(std::vector<std::string> command, std::vector<std::string> environment)
{
    const std::vector<char*> arguments = argument_pointers(command);
    const std::vector<char*> variables = argument_pointers(environment);
    const pid_t parent = ::getpid();
    const pid_t child = ::fork();
    if (child == 0) {
        if (become_child(parent, SIGTERM)) ::execve(arguments[0], arguments.data(), variables.data());
        ::_exit(127);
    }
    if (child < 0) return tcp_error("cannot start " + command.front());
    children_.push_back(child);
    return {};
}

bool StartedTeam::has_lost_one() const
{
    return std::any_of(children_.begin(), children_.end(), [](pid_t child) { return has_child_ended(child); });
}

} // namespace fathom::probes
