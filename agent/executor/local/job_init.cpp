#include "agent/executor/local/job_init.hpp"

#include "agent/executor/local/plain_syscall.hpp"
#include "core/base/error_text.hpp"

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>
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
        const long reaped = plain_syscall(SYS_wait4, -1, 0, options);
        if (reaped == 0 || (reaped < 0 && reaped != -EINTR)) return;
    }
}

/// As the kernel has it; the C library's is longer.
using KernelSignals = std::uint64_t;

void set_up_init(int lifeline)
{
    plain_syscall(SYS_prctl, PR_SET_PDEATHSIG, SIGKILL);
    plain_syscall(SYS_prctl, PR_SET_NAME, syscall_address("fathom-init"));
    const KernelSignals all = ~KernelSignals{0};
    plain_syscall(SYS_rt_sigprocmask, SIG_BLOCK, syscall_address(&all), 0, sizeof all);
    const std::array<std::uint64_t, 4> by_default{}; // with SIGCHLD ignored nobody would be counted
    plain_syscall(SYS_rt_sigaction, SIGCHLD, syscall_address(by_default.data()), 0, sizeof all);
    if (plain_syscall(SYS_dup3, lifeline, 0, 0) < 0) plain_syscall(SYS_exit_group, 1);
    plain_syscall(SYS_close_range, 1, static_cast<std::intptr_t>(~0U), 0);
}

/// Reaps until the lifeline is cut, then kills everybody and reaps them: whom the kernel would kill with this
/// process, it would not count. Runs in the memory of its parent: by plain system calls only.
int be_init(void* lifeline)
{
    set_up_init(static_cast<int>(reinterpret_cast<std::intptr_t>(lifeline))); // by value: nobody waits for us
    const KernelSignals child = KernelSignals{1} << (SIGCHLD - 1U);
    const auto children = static_cast<int>(
        plain_syscall(SYS_signalfd4, -1, syscall_address(&child), sizeof child, SFD_CLOEXEC | SFD_NONBLOCK));
    if (children < 0) plain_syscall(SYS_exit_group, 1);
    for (;;) {
        std::array<pollfd, 2> waiting{{{0, POLLIN, 0}, {children, POLLIN, 0}}};
        plain_syscall(SYS_ppoll, syscall_address(waiting.data()), waiting.size(), 0, 0, sizeof child);
        std::array<char, sizeof(signalfd_siginfo)> info; // NOLINT(cppcoreguidelines-pro-type-member-init)
        while (plain_syscall(SYS_read, children, syscall_address(info.data()), info.size()) > 0) {
        }
        reap_all(WNOHANG);
        if ((waiting[0].revents & (POLLHUP | POLLERR | POLLIN)) != 0) break;
    }
    plain_syscall(SYS_kill, -1, SIGKILL);
    reap_all(0);
    plain_syscall(SYS_exit_group, 0);
    return 0;
}

/// Its own and its children's, when it ends within the time.
std::optional<rusage> use_when_ended(int pid, std::chrono::seconds limit)
{
    // Readable from the process's end on; without one (old kernels) the wait is by looking.
    const int process = static_cast<int>(::syscall(SYS_pidfd_open, pid, 0));
    const auto deadline = std::chrono::steady_clock::now() + limit;
    std::optional<rusage> use;
    for (;;) {
        rusage found{};
        const pid_t ended = ::wait4(pid, nullptr, WNOHANG, &found);
        if (ended == pid || (ended < 0 && errno == ECHILD)) use = found;
        const auto now = std::chrono::steady_clock::now();
        if (use || now > deadline) break;
        pollfd waiting{process, POLLIN, 0};
        const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - now);
        ::poll(&waiting, 1, process >= 0 ? static_cast<int>(left.count()) : 1);
    }
    if (process >= 0) ::close(process);
    return use;
}

} // namespace

Result<Lifeline> make_lifeline()
{
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0)
        return Error{Errc::kUnavailable, "cannot make a pipe: " + error_text(errno)};
    return Lifeline{ends[0], ends[1]};
}

Result<int> start_init(const Lifeline& lifeline, const ChildStack& stack, InitParent parent)
{
    int flags = may_share_memory() && kHasPlainSyscall ? CLONE_VM : 0;
    if (parent == InitParent::kCallersParent) flags |= CLONE_PARENT;
    void* const init_end =
        reinterpret_cast<void*>(std::intptr_t{lifeline.init_end}); // NOLINT(performance-no-int-to-ptr)
    pid_t pid = -1;
    if (::unshare(CLONE_NEWPID) == 0) pid = stack.start(flags, &be_init, init_end);
    if (pid < 0) return Error{Errc::kUnavailable, "cannot make a PID namespace: " + error_text(errno)};
    return pid;
}

std::optional<std::int64_t> end_init(const JobInit& init)
{
    ::close(init.lifeline);
    std::optional<rusage> use = use_when_ended(init.pid, kAskedLimit);
    if (!use) {
        ::kill(init.pid, SIGKILL);
        use = use_when_ended(init.pid, kKilledLimit);
    }
    if (!use) return std::nullopt;
    return use->ru_maxrss;
}

} // namespace fathom::agent
