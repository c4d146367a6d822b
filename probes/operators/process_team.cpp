#include "probes/operators/process_team.hpp"

#include <cerrno>
#include <csignal>
#include <cstring>
#include <ctime>
#include <linux/futex.h>
#include <new>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace fathom::probes {
namespace {

static_assert(std::atomic<std::uint32_t>::is_always_lock_free, "a futex is a plain word");

/// Sleeps while `word` is `value`, 100 ms at most. std::atomic::wait works within one process only.
void sleep_while(std::atomic<std::uint32_t>& word, std::uint32_t value)
{
    const timespec limit{.tv_sec = 0, .tv_nsec = 100'000'000};
    syscall(SYS_futex, reinterpret_cast<std::uint32_t*>(&word), FUTEX_WAIT, value, &limit, nullptr, 0);
}

void wake_all(std::atomic<std::uint32_t>& word)
{
    syscall(SYS_futex, reinterpret_cast<std::uint32_t*>(&word), FUTEX_WAKE, INT32_MAX, nullptr, nullptr, 0);
}

} // namespace

ProcessTeam::ProcessTeam(std::size_t processes, Work work)
    : size_(processes), work_(std::move(work)), shared_(Mapping::shared(sizeof(Meeting))),
      meeting_(new(shared_.data()) Meeting)
{
}

int most_processes()
{
    cpu_set_t processors;
    return sched_getaffinity(0, sizeof(processors), &processors) == 0 ? CPU_COUNT(&processors) : CPU_SETSIZE;
}

Result<std::unique_ptr<ProcessTeam>> ProcessTeam::start(std::size_t processes, Work work)
{
    std::unique_ptr<ProcessTeam> team(new ProcessTeam(processes, std::move(work)));
    if (Result<void> forked = team->fork_members(); !forked) return forked.error();
    return team;
}

Result<void> ProcessTeam::fork_members()
{
    const pid_t parent = getpid();
    members_.reserve(size_);
    for (std::size_t rank = 1; rank < size_; ++rank) {
        const pid_t child = fork();
        if (child == 0) serve(rank, parent);
        if (child < 0)
            return Error{Errc::kUnavailable, std::string("cannot start a worker process: ") + std::strerror(errno)};
        members_.push_back(child);
    }
    return {};
}

ProcessTeam::~ProcessTeam()
{
    // Killed, not asked: when one could not be started or has died, the others wait for a meeting that never is.
    for (const pid_t member : members_)
        kill(member, SIGKILL);
    for (const pid_t member : members_)
        waitpid(member, nullptr, 0);
}

bool ProcessTeam::run()
{
    meet();
    if (!broken_) work_(*this, 0);
    if (!broken_) meet();
    return !broken_;
}

void ProcessTeam::serve(std::size_t rank, pid_t parent)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(0); // it ended before the line above
    members_.clear();
    while (true) {
        meet();
        work_(*this, rank);
        meet();
    }
}

void ProcessTeam::meet()
{
    if (broken_) return;
    const std::uint32_t round = meeting_->round.load(std::memory_order_acquire);
    if (meeting_->arrived.fetch_add(1, std::memory_order_acq_rel) + 1 < size_) return wait_for_round(round);
    meeting_->arrived.store(0, std::memory_order_relaxed);
    meeting_->round.fetch_add(1, std::memory_order_release);
    if (size_ > 1) wake_all(meeting_->round);
}

void ProcessTeam::wait_for_round(std::uint32_t old)
{
    for (int i = 0; i < 2000; ++i) { // about 20 µs
        if (meeting_->round.load(std::memory_order_acquire) != old) return;
#if defined(__x86_64__)
        __builtin_ia32_pause();
#endif
    }
    while (meeting_->round.load(std::memory_order_acquire) == old && !broken_) {
        sleep_while(meeting_->round, old);
        if (meeting_->round.load(std::memory_order_acquire) == old && !all_alive()) broken_ = true;
    }
}

bool ProcessTeam::all_alive()
{
    for (const pid_t member : members_) {
        siginfo_t info{};
        // Left for the destructor to reap: the id must stay ours until then.
        if (waitid(P_PID, static_cast<id_t>(member), &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid != 0)
            return false;
    }
    return true;
}

} // namespace fathom::probes
