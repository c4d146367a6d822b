#include "agent/executor/local/job_init.hpp"

#include "core/base/error_text.hpp"

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <fcntl.h>
#include <linux/close_range.h>
#include <poll.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace fathom::agent {
namespace {

constexpr std::chrono::seconds kAskedLimit{5};  ///< to end by itself, with all times counted
constexpr std::chrono::seconds kKilledLimit{5}; ///< for the kernel to end it

void reap_all(int options)
{
    for (;;) {
        const pid_t reaped = ::waitpid(-1, nullptr, options);
        if (reaped == 0 || (reaped < 0 && errno != EINTR)) return;
    }
}

/// Reaps until the lifeline is cut, then kills everybody and reaps them: whom the kernel would kill with this
/// process, it would not count.
[[noreturn]] void be_init(int lifeline)
{
    ::prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
    ::prctl(PR_SET_NAME, "fathom-init", 0, 0, 0);
    sigset_t signals;
    ::sigfillset(&signals);
    ::sigprocmask(SIG_BLOCK, &signals, nullptr);
    ::signal(SIGCHLD, SIG_DFL);
    if (::dup2(lifeline, 0) < 0) ::_exit(1);
    ::close_range(1, ~0U, 0);
    sigset_t child;
    ::sigemptyset(&child);
    ::sigaddset(&child, SIGCHLD);
    const int children = ::signalfd(-1, &child, SFD_CLOEXEC | SFD_NONBLOCK);
    if (children < 0) ::_exit(1);
    for (;;) {
        std::array<pollfd, 2> waiting{{{0, POLLIN, 0}, {children, POLLIN, 0}}};
        ::poll(waiting.data(), waiting.size(), -1);
        signalfd_siginfo info{};
        while (::read(children, &info, sizeof info) > 0) {
        }
        reap_all(WNOHANG);
        if ((waiting[0].revents & (POLLHUP | POLLERR | POLLIN)) != 0) break;
    }
    ::kill(-1, SIGKILL);
    reap_all(0);
    ::_exit(0);
}

bool ends_within(int pid, std::chrono::seconds limit)
{
    // Readable from the process's end on; without one (old kernels) the wait is by looking.
    const int process = static_cast<int>(::syscall(SYS_pidfd_open, pid, 0));
    const auto deadline = std::chrono::steady_clock::now() + limit;
    bool has_ended = false;
    for (;;) {
        const pid_t ended = ::waitpid(pid, nullptr, WNOHANG);
        has_ended = ended == pid || (ended < 0 && errno == ECHILD);
        const auto now = std::chrono::steady_clock::now();
        if (has_ended || now > deadline) break;
        pollfd waiting{process, POLLIN, 0};
        const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - now);
        ::poll(&waiting, 1, process >= 0 ? static_cast<int>(left.count()) : 1);
    }
    if (process >= 0) ::close(process);
    return has_ended;
}

} // namespace

Result<JobInit> start_init()
{
    std::array<int, 2> lifeline{};
    if (::pipe2(lifeline.data(), O_CLOEXEC) != 0)
        return Error{Errc::kUnavailable, "cannot make a pipe: " + error_text(errno)};
    pid_t pid = -1;
    if (::unshare(CLONE_NEWPID) == 0) {
        pid = ::fork();
        if (pid == 0) {
            ::close(lifeline[1]);
            be_init(lifeline[0]);
        }
    }
    const int error = errno;
    ::close(lifeline[0]);
    if (pid > 0) return JobInit{pid, lifeline[1]};
    ::close(lifeline[1]);
    return Error{Errc::kUnavailable, "cannot make a PID namespace: " + error_text(error)};
}

void end_init(const JobInit& init)
{
    ::close(init.lifeline);
    if (ends_within(init.pid, kAskedLimit)) return;
    ::kill(init.pid, SIGKILL);
    ends_within(init.pid, kKilledLimit);
}

} // namespace fathom::agent
