#include "probes/profile/sampler.hpp"

#include <algorithm>
#include <ctime>
#include <map>

namespace fathom::profile {
namespace {

constexpr std::chrono::milliseconds kMin{10};
constexpr std::chrono::milliseconds kMaxDuration{500};

double own_cpu_s()
{
    timespec time = {};
    ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

void add(OutsideTime& time, ThreadState state, double seconds)
{
    switch (state) {
    case ThreadState::kRunning:
        time.running_s += seconds;
        break;
    case ThreadState::kIo:
        time.io_s += seconds;
        break;
    case ThreadState::kWaiting:
        time.waiting_s += seconds;
        break;
    }
}

/// What a program without a thread of interest does: it runs if any of its threads does.
ThreadState state_of_all(const std::vector<ThreadView>& threads)
{
    ThreadState state = ThreadState::kWaiting;
    for (const ThreadView& thread : threads) {
        if (thread.state == ThreadState::kRunning) return ThreadState::kRunning;
        if (thread.state == ThreadState::kIo) state = ThreadState::kIo;
    }
    return state;
}

} // namespace

Sampler::Sampler(const Counts& counts, pid_t root, std::optional<bool> shows_pages)
    : counts_(counts), tree_(root), memory_use_(make_memory_use(root, shows_pages)), counters_(root),
      last_look_(std::chrono::steady_clock::now()), interval_(kMin)
{
}

std::vector<pid_t> Sampler::attached() const
{
    std::vector<pid_t> processes;
    const std::size_t used = std::min<std::size_t>(counts_.processes_used.load(), kMaxProcesses);
    for (std::size_t i = 0; i < used; ++i)
        processes.push_back(static_cast<pid_t>(counts_.processes[i].load(std::memory_order_acquire)));
    return processes;
}

void Sampler::look()
{
    const double cpu_before_s = own_cpu_s();
    const std::vector<ThreadView> threads = tree_.look(attached());
    const auto now = std::chrono::steady_clock::now();
    counters_.look();
    attribute(threads, std::chrono::duration<double>(now - last_look_).count());
    last_look_ = now;
    constexpr double kMaxOfACore = 0.007;
    const std::chrono::duration<double> affordable((own_cpu_s() - cpu_before_s) / kMaxOfACore);
    interval_ = std::clamp(std::chrono::duration_cast<std::chrono::milliseconds>(affordable), kMin, kMaxDuration);
}

void Sampler::attribute(const std::vector<ThreadView>& threads, double elapsed_s)
{
    std::map<std::pair<pid_t, pid_t>, ThreadState> states;
    for (const ThreadView& thread : threads)
        states[{thread.process, thread.thread}] = thread.state;
    const std::size_t used = std::min<std::size_t>(counts_.threads_used.load(), kMaxThreads);
    last_alive_.resize(std::max(used, last_alive_.size()));
    bool any = false;
    bool computes = false;
    for (std::size_t i = 0; i < used; ++i) {
        const ThreadSlot& slot = counts_.threads[i];
        const auto thread = static_cast<pid_t>(slot.thread.load(std::memory_order_acquire));
        const auto found = states.find({static_cast<pid_t>(slot.process.load()), thread});
        if (thread == 0 || slot.end_ticks.load() != 0 || found == states.end()) continue;
        any = true;
        last_alive_[i] = now_ticks();
        if (slot.since_ticks.load() != 0) continue; // inside an operator: its exact time is counted there
        add(outside_, found->second, elapsed_s);
        computes = computes || found->second == ThreadState::kRunning;
    }
    if (!any) {
        const ThreadState state = state_of_all(threads);
        add(outside_, state, elapsed_s);
        computes = state == ThreadState::kRunning;
    }
    if (computes)
        memory_use_->look(tree_.alive());
    else
        memory_use_->skip();
}

} // namespace fathom::profile
