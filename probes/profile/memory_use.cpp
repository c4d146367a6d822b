#include "probes/profile/memory_use.hpp"

#include "probes/runner/proc_files.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <thread>
#include <unistd.h>

namespace fathom::profile {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start)
{
    return std::chrono::duration<double>(Clock::now() - start).count();
}

/// One counter of a process and all that it will start.
class Counter {
  public:
    Counter(pid_t process, std::uint64_t event)
    {
        perf_event_attr attributes{};
        attributes.size = sizeof(attributes);
        attributes.type = PERF_TYPE_HARDWARE;
        attributes.config = event;
        attributes.inherit = 1;
        attributes.exclude_kernel = 1;
        attributes.exclude_hv = 1;
        fd_ = static_cast<int>(::syscall(SYS_perf_event_open, &attributes, process, -1, -1, PERF_FLAG_FD_CLOEXEC));
    }
    ~Counter()
    {
        if (fd_ >= 0) ::close(fd_);
    }
    Counter(const Counter&) = delete;
    Counter& operator=(const Counter&) = delete;
    bool is_open() const { return fd_ >= 0; }
    double value() const
    {
        std::uint64_t value = 0;
        return ::read(fd_, &value, sizeof(value)) == sizeof(value) ? static_cast<double>(value) : 0;
    }

  private:
    int fd_ = -1;
};

/// Misses of the last cache, a line of memory each, against what the core could move in that time. Such misses
/// that also take many cycles for few instructions are waiting for memory's latency: bound by memory too.
class HardwareCounters final : public MemoryUse {
  public:
    explicit HardwareCounters(pid_t root)
        : misses_(root, PERF_COUNT_HW_CACHE_MISSES), cycles_(root, PERF_COUNT_HW_CPU_CYCLES),
          instructions_(root, PERF_COUNT_HW_INSTRUCTIONS)
    {
    }
    bool work() const { return misses_.is_open() && cycles_.is_open() && instructions_.is_open(); }

    void look(const std::vector<pid_t>& /*processes*/) override
    {
        const double misses = misses_.value();
        const double cycles = cycles_.value();
        const double instructions = instructions_.value();
        const double elapsed = seconds_since(last_);
        if (is_primed_ && cycles > last_cycles_) {
            seconds_ += elapsed;
            lines_ += misses - last_misses_;
            seen_cycles_ += cycles - last_cycles_;
            seen_instructions_ += instructions - last_instructions_;
        }
        remember(misses, cycles, instructions);
    }
    void skip() override { is_primed_ = false; }
    double fraction(double bandwidth_bytes_per_s) const override
    {
        if (seconds_ <= 0) return -1;
        constexpr double kLineBytes = 64;
        constexpr double kLatencyCycles = 200; // of a miss that nothing hides
        const double by_bandwidth = lines_ * kLineBytes / seconds_ / bandwidth_bytes_per_s;
        // Few instructions a cycle and many misses: each miss is waited for.
        const bool is_stalled = seen_instructions_ < 0.5 * seen_cycles_;
        const double by_latency = is_stalled ? lines_ * kLatencyCycles / seen_cycles_ : 0;
        return std::clamp(std::max(by_bandwidth, by_latency), 0.0, 1.0);
    }
    std::string method() const override { return "hardware counters: cycles, instructions, last-level cache misses"; }

  private:
    void remember(double misses, double cycles, double instructions)
    {
        last_misses_ = misses;
        last_cycles_ = cycles;
        last_instructions_ = instructions;
        last_ = Clock::now();
        is_primed_ = true;
    }

    Counter misses_;
    Counter cycles_;
    Counter instructions_;
    Clock::time_point last_{};
    bool is_primed_ = false;
    double last_misses_ = 0;
    double last_cycles_ = 0;
    double last_instructions_ = 0;
    double seconds_ = 0;
    double lines_ = 0;
    double seen_cycles_ = 0;
    double seen_instructions_ = 0;
};

/// Pages that are touched within a few milliseconds of processor time: a program that streams through memory
/// touches as many as the core can move, one that computes in its caches a few again and again.
class TouchedPages final : public MemoryUse {
  public:
    void look(const std::vector<pid_t>& processes) override
    {
        // Marks cost a walk through the program's pages: so rarely that it stays below a hundredth of its time.
        if (seconds_since(last_) < wait_s_) return;
        constexpr std::chrono::milliseconds kWindow{4};
        const auto begin = Clock::now();
        std::vector<pid_t> marked;
        for (const pid_t process : processes) {
            if (clear_marks(process)) marked.push_back(process);
        }
        const double marking_s = seconds_since(begin);
        if (marked.empty()) return;
        const double cpu_before = processor_s(marked);
        const auto window = Clock::now();
        std::this_thread::sleep_for(kWindow);
        const double window_s = seconds_since(window);
        // The kernel counts time in steps longer than the window: the running threads are taken as one core each.
        const double cpu_s = std::max(window_s, processor_s(marked) - cpu_before);
        const auto reading = Clock::now();
        double touched = 0;
        for (const pid_t process : marked)
            touched += touched_bytes(process);
        wait_s_ = std::clamp(150 * (marking_s + seconds_since(reading)), 0.1, 10.0);
        last_ = Clock::now();
        bytes_ += touched;
        seconds_ += cpu_s;
    }
    void skip() override {}
    double fraction(double bandwidth_bytes_per_s) const override
    {
        return seconds_ <= 0 ? -1 : std::clamp(bytes_ / seconds_ / bandwidth_bytes_per_s, 0.0, 1.0);
    }
    std::string method() const override
    {
        return "rate of touched pages (no hardware counters here); random access cannot be told from streaming";
    }

  private:
    static bool clear_marks(pid_t process)
    {
        const int fd = ::open(("/proc/" + std::to_string(process) + "/clear_refs").c_str(), O_WRONLY | O_CLOEXEC);
        if (fd < 0) return false;
        const bool is_cleared = ::write(fd, "1", 1) == 1;
        ::close(fd);
        return is_cleared;
    }
    static double touched_bytes(pid_t process)
    {
        const std::string text = probes::proc_text("/proc/" + std::to_string(process) + "/smaps_rollup");
        return 1024 * probes::leading_number(probes::proc_value(text, "Referenced")).value_or(0);
    }
    static double processor_s(const std::vector<pid_t>& processes)
    {
        double nanoseconds = 0;
        for (const pid_t process : processes)
            nanoseconds += probes::leading_number(probes::proc_text("/proc/" + std::to_string(process) + "/schedstat"))
                               .value_or(0);
        return nanoseconds / 1e9;
    }

    Clock::time_point last_{};
    double wait_s_ = 0.1;
    double bytes_ = 0;
    double seconds_ = 0;
};

} // namespace

std::unique_ptr<MemoryUse> make_memory_use(pid_t root)
{
    auto counters = std::make_unique<HardwareCounters>(root);
    if (counters->work()) return counters;
    return std::make_unique<TouchedPages>();
}

double measure_bandwidth()
{
    constexpr std::size_t kElements = std::size_t{8} << 20U; // 64 MiB an array
    constexpr double kBytes = 24;                            // of each step: two are read, one is written
    std::vector<double> a(kElements, 0);
    const std::vector<double> b(kElements, 1);
    const std::vector<double> c(kElements, 2);
    double best = 0;
    for (int round = 0; round < 3; ++round) {
        const auto start = Clock::now();
        for (std::size_t i = 0; i < kElements; ++i)
            a[i] = b[i] + static_cast<double>(round + 1) * c[i];
        asm volatile("" : : "r"(a.data()) : "memory"); // the compiler may not leave the loop out
        best = std::max(best, kBytes * static_cast<double>(kElements) / seconds_since(start));
    }
    return best;
}

} // namespace fathom::profile
