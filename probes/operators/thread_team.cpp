#include "probes/operators/thread_team.hpp"

#include <algorithm>

namespace fathom::probes {
namespace {

/// Waits until `value` is no longer `old`: about 20 µs awake, then asleep.
template <class T>
void wait_for_change(std::atomic<T>& value, T old)
{
    for (int i = 0; i < 2000; ++i) {
        if (value.load(std::memory_order_acquire) != old) return;
#if defined(__x86_64__)
        __builtin_ia32_pause();
#endif
    }
    value.wait(old, std::memory_order_acquire);
}

} // namespace

ThreadTeam::ThreadTeam(int threads) : members_(static_cast<std::size_t>(std::max(threads, 1)))
{
    for (std::size_t rank = 1; rank < members_; ++rank)
        threads_.emplace_back([this, rank] { serve(rank); });
}

ThreadTeam::~ThreadTeam()
{
    stop_.store(true);
    round_.fetch_add(1);
    round_.notify_all();
    for (std::thread& thread : threads_)
        thread.join();
}

void ThreadTeam::for_parts(std::size_t size, const std::function<void(Part)>& work)
{
    size_ = size;
    if (members_ == 1) {
        work(part(0));
        return;
    }
    work_ = &work;
    running_.store(members_ - 1);
    round_.fetch_add(1);
    round_.notify_all();
    work(part(0));
    for (std::size_t left = running_.load(); left != 0; left = running_.load())
        wait_for_change(running_, left);
}

void ThreadTeam::serve(std::size_t rank)
{
    unsigned seen = 0;
    while (true) {
        wait_for_change(round_, seen);
        ++seen; // the caller waits for every member, so no round can be missed
        if (stop_.load()) return;
        (*work_)(part(rank));
        if (running_.fetch_sub(1) == 1) running_.notify_one();
    }
}

Part ThreadTeam::part(std::size_t rank) const
{
    // Ends on multiples of a cache line of doubles, so that no two threads write one line.
    constexpr std::size_t kLine = 8;
    const std::size_t lines = (size_ + kLine - 1) / kLine;
    return {std::min(lines * rank / members_ * kLine, size_), std::min(lines * (rank + 1) / members_ * kLine, size_)};
}

} // namespace fathom::probes
