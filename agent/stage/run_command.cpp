#include "agent/stage/run_command.hpp"

#include "core/base/error_text.hpp"
#include "core/base/wait_for_child.hpp"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace fathom::agent {
namespace {

constexpr int kNotStarted = 127;
constexpr int kSignalled = 128; ///< plus the signal, as shells have it
constexpr std::array kRequestsToEnd{SIGHUP, SIGINT, SIGQUIT, SIGTERM};

void do_nothing(int /*signal*/) {}

/// Handled, not ignored: what is ignored would stay so in the command.
void leave_requests_to_command()
{
    for (const int signal : kRequestsToEnd)
        std::signal(signal, &do_nothing);
}

void heed_requests()
{
    for (const int signal : kRequestsToEnd)
        std::signal(signal, SIG_DFL);
}

int die_of(int signal)
{
    const rlimit no_core{};
    ::setrlimit(RLIMIT_CORE, &no_core); // the command's, if any, tells something
    std::signal(signal, SIG_DFL);
    std::raise(signal);
    return kSignalled + signal;
}

} // namespace

int become(char* const* command)
{
    ::execvp(*command, command);
    const std::string cause = error_text(errno);
    std::fprintf(stderr, "fathom-stage: cannot start \"%s\": %s\n", *command, cause.c_str());
    return kNotStarted;
}

int run_command(char* const* command)
{
    leave_requests_to_command();
    const pid_t self = ::getpid();
    const pid_t child = ::fork();
    if (child < 0) {
        std::fprintf(stderr, "fathom-stage: cannot make a process: %s\n", error_text(errno).c_str());
        return kNotStarted;
    }
    if (child == 0) {
        heed_requests();
        // It does not outlive us, whose end is the job's.
        if (::prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || ::getppid() != self) ::_exit(kNotStarted);
        ::_exit(become(command));
    }
    int status = 0;
    reap_child(child, status);
    heed_requests();
    return WIFSIGNALED(status) ? die_of(WTERMSIG(status)) : WEXITSTATUS(status);
}

} // namespace fathom::agent
