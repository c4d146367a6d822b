#include "probes/profile/memory_use.hpp"

#include "core/base/open_file.hpp"
#include "probes/profile/page_looks.hpp"
#include "probes/profile/triad.hpp"
#include "probes/runner/proc_files.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <fcntl.h>
#include <filesystem>
#include <linux/perf_event.h>
#include <optional>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <system_error>
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
        file_ = OpenFile(
            static_cast<int>(::syscall(SYS_perf_event_open, &attributes, process, -1, -1, PERF_FLAG_FD_CLOEXEC)));
    }
    bool is_open() const { return file_.number() >= 0; }
    double value() const
    {
        std::uint64_t value = 0;
        return ::read(file_.number(), &value, sizeof(value)) == sizeof(value) ? static_cast<double>(value) : 0;
    }

  private:
    OpenFile file_;
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

/// Pages of this process, more than translation buffers hold, to see whether what is touched shows.
class KnownPages {
  public:
    static constexpr std::size_t kPages = 4096;

    void touch()
    {
        ++round_;
        for (std::size_t at = 0; at < memory_.size(); at += page_bytes_)
            static_cast<volatile char&>(memory_[at]) = round_;
    }
    double bytes() const { return static_cast<double>(memory_.size()); }

  private:
    std::size_t page_bytes_ = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
    std::vector<char> memory_ = std::vector<char>(kPages * page_bytes_, 1);
    char round_ = 1;
};

/// Pages that are touched within a few milliseconds of processor time: a program that streams through memory
/// touches as many as the core can move, one that computes in its caches a few again and again.
class TouchedPages final : public MemoryUse {
  public:
    explicit TouchedPages(std::optional<bool> shows_pages)
        : is_machine_known_(shows_pages.has_value()),
          marks_(shows_pages.value_or(true) ? Marks::kUntried : Marks::kHidden)
    {
    }

    void look(const std::vector<pid_t>& processes) override
    {
        const double now_s = seconds_since(start_);
        if (marks_ == Marks::kHidden || !budget_.is_due(now_s)) return;
        if (marks_ == Marks::kUntried) {
            known_.emplace();
            marks_ = marks_are_costly(*known_) ? Marks::kCostly : Marks::kUsed;
        }
        if (marks_ != Marks::kUsed) return;
        std::uint64_t bytes = 0;
        const std::vector<pid_t> chosen = choose(processes, bytes);
        if (!budget_.affords(now_s, bytes) || chosen.empty()) return;
        constexpr std::chrono::milliseconds kWindow{6};
        const double cost_before_s = thread_s();
        std::vector<pid_t> marked;
        const bool is_own_marked = clear_marks(::getpid());
        for (const pid_t process : chosen) {
            if (clear_marks(process)) marked.push_back(process);
        }
        if (marked.empty()) return;
        const double cpu_before = processor_s(marked);
        const auto window = Clock::now();
        known_->touch();
        std::this_thread::sleep_until(window + kWindow);
        const double window_s = seconds_since(window);
        double touched = 0;
        for (const pid_t process : marked)
            touched += touched_bytes(process);
        const double reading_s = seconds_since(window) - window_s;
        // Pages are read one after another while the program goes on: on average half of that time has passed.
        const double part = (window_s + reading_s / 2) / (window_s + reading_s);
        const double cpu_s = (processor_s(marked) - cpu_before) * part;
        // Whether pages show changes from second to second on some machines: what this process has touched tells.
        constexpr double kEnough = 0.5;
        const bool is_shown = is_own_marked && touched_bytes(::getpid()) >= kEnough * known_->bytes();
        // A look stands for the time since the one before.
        const double weight = seconds_since(last_);
        (is_shown ? weight_ : hidden_weight_) += weight;
        // One look's time says little: the kernel brings it up to date in steps of milliseconds, and on a busy machine
        // the program may not have run at all.
        if (is_shown) touched_ += weight * touched;
        if (is_shown) cpu_ += weight * cpu_s;
        last_ = Clock::now();
        // Waiting for a processor is no cost: on a busy machine there would be no second look.
        budget_.spend(thread_s() - cost_before_s, bytes);
    }
    void skip() override {}
    void check_machine() override
    {
        constexpr double kMinCovered = 0.3; // by looks: a program begins otherwise than it goes on
        if (marks_ != Marks::kUsed) return;
        const bool was_hidden = hidden_weight_ > weight_;
        if (weight_ + hidden_weight_ < kMinCovered * seconds_since(start_))
            marks_ = Marks::kRarelySeen;
        else if (was_hidden || (weight_ > 0 && !is_machine_known_ && !is_seen_at_speed()))
            marks_ = Marks::kHidden;
    }
    double fraction(double bandwidth_bytes_per_s) const override
    {
        // Real loops reach some three fifths of what the best triad does, and wait for memory all the time.
        constexpr double kReached = 0.6;
        return cpu_ <= 0 || marks_ == Marks::kHidden || marks_ == Marks::kRarelySeen
                   ? -1
                   : std::clamp(touched_ / cpu_ / (kReached * bandwidth_bytes_per_s), 0.0, 1.0);
    }
    std::string method() const override
    {
        return std::string("rate of touched pages (no hardware counters here); random access cannot be told from "
                           "streaming") +
               (any_too_large_ ? "; processes were not looked at while they were too large" : "");
    }
    std::string why_unknown() const override
    {
        if (marks_ == Marks::kHidden || marks_ == Marks::kCostly)
            return std::string("no hardware counters here, and this machine ") +
                   (marks_ == Marks::kHidden ? "does not show which pages a program touches"
                                             : "does not show which pages a program touches without slowing it") +
                   ": memory cannot be told from compute, all counted as compute";
        if (marks_ == Marks::kRarelySeen)
            return "no hardware counters here, and the program's pages could be looked at too rarely: memory cannot be "
                   "told from compute, all counted as compute";
        return any_too_large_ ? "no hardware counters here, and the program's processes are too large to look at their "
                                "pages without slowing them: all counted as compute"
                              : MemoryUse::why_unknown();
    }

    /// Whether at least half of what this process goes through at full speed is seen to be touched.
    static bool is_seen_at_speed() { return speed_seen_of_known_pages() >= 0.5; }

  private:
    /// What is known of the marks of pages on this machine.
    enum class Marks { kUntried, kUsed, kCostly, kHidden, kRarelySeen };

    /// Where a hypervisor keeps the page tables that the processor walks, a page that is touched after its mark was
    /// cleared costs a fault of 10 us of processor time instead of a tenth of a microsecond.
    static bool marks_are_costly(KnownPages& known)
    {
        constexpr int kRounds = 3; // the longest one: others' buffers may still have been warm
        constexpr double kCostly_s = 2e-6;
        double longest_s = 0;
        for (int round = 0; round < kRounds; ++round) {
            if (!clear_marks(::getpid())) return true;
            const double began_s = thread_s();
            known.touch();
            longest_s = std::max(longest_s, thread_s() - began_s);
        }
        return longest_s > kCostly_s * static_cast<double>(KnownPages::kPages);
    }
    /// Processor time of this thread: others that wait for a processor are no cost.
    static double thread_s()
    {
        timespec time{};
        ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
        return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
    }
    /// Those whose turn it is, and how much memory of theirs is resident.
    std::vector<pid_t> choose(const std::vector<pid_t>& processes, std::uint64_t& bytes)
    {
        std::vector<std::uint64_t> resident;
        for (const pid_t process : processes)
            resident.push_back(resident_bytes(process));
        const Turn turn = choose_turn(resident, next_);
        next_ = turn.next;
        any_too_large_ = any_too_large_ || turn.any_too_large;
        std::vector<pid_t> chosen;
        for (const std::size_t at : turn.chosen) {
            chosen.push_back(processes[at]);
            bytes += resident[at];
        }
        return chosen;
    }
    /// The kernel keeps count of it: no walk.
    static std::uint64_t resident_bytes(pid_t process)
    {
        static const auto page_bytes = static_cast<double>(::sysconf(_SC_PAGESIZE));
        const std::string text = probes::proc_text("/proc/" + std::to_string(process) + "/statm");
        const std::size_t blank = text.find(' '); // before it: the size of the address space
        if (blank == std::string::npos) return 0;
        return static_cast<std::uint64_t>(probes::leading_number(text.substr(blank + 1)).value_or(0) * page_bytes);
    }
    static bool clear_marks(pid_t process)
    {
        const int fd = ::open(("/proc/" + std::to_string(process) + "/clear_refs").c_str(), O_WRONLY | O_CLOEXEC);
        if (fd < 0) return false;
        const bool is_cleared = ::write(fd, "1", 1) == 1;
        ::close(fd);
        return is_cleared;
    }
    /// Clearing the marks of pages does not empty the processor's translation buffers, and what it finds in there it
    /// does not mark again: some processors (large buffers, large pages) mark few of the pages that a program goes
    /// through. Hypervisors that keep page tables of their own show all, at a fiftieth of the speed, or none, and
    /// which of the two changes from second to second. So this process looks at itself while it goes through pages
    /// that it knows. @return bytes seen in a second of its processor time over those that it moves when nobody looks
    static double speed_seen_of_known_pages()
    {
        constexpr int kLooks = 10;
        constexpr double kLook_s = 0.006;
        constexpr std::size_t kStep = std::size_t{64} << 10U; // elements
        Triad triad;
        triad.run(0, Triad::kElements, 1); // brings the pages in
        double began_s = thread_s();
        triad.run(0, Triad::kElements, 2);
        const double unseen_speed =
            static_cast<double>(Triad::kElements) * Triad::kElementBytes / (thread_s() - began_s);
        double seen = 0;
        double looked_s = 0;
        std::size_t next = 0;
        for (int look = 0; look < kLooks; ++look) {
            if (!clear_marks(::getpid())) return 0;
            began_s = thread_s();
            for (std::size_t done = 0; done < Triad::kElements && thread_s() - began_s < kLook_s; done += kStep) {
                triad.run(next, next + kStep, look);
                next = (next + kStep) % Triad::kElements;
            }
            looked_s += thread_s() - began_s;
            seen += touched_bytes(::getpid());
        }
        return seen / looked_s / unseen_speed;
    }
    static double touched_bytes(pid_t process)
    {
        const std::string text = probes::proc_text("/proc/" + std::to_string(process) + "/smaps_rollup");
        return 1024 * probes::leading_number(probes::proc_value(text, "Referenced")).value_or(0);
    }
    static double processor_s(const std::vector<pid_t>& processes)
    {
        double nanoseconds = 0;
        for (const pid_t process : processes) {
            std::error_code ignored;
            const std::string tasks = "/proc/" + std::to_string(process) + "/task";
            for (const auto& task : std::filesystem::directory_iterator(tasks, ignored))
                nanoseconds += probes::leading_number(probes::proc_text(task.path() / "schedstat")).value_or(0);
        }
        return nanoseconds / 1e9;
    }

    Clock::time_point start_ = Clock::now();
    Clock::time_point last_ = start_;
    LookBudget budget_;
    std::size_t next_ = 0; ///< process whose turn it is
    bool any_too_large_ = false;
    bool is_machine_known_; ///< whether it shows pages, from before
    Marks marks_;
    std::optional<KnownPages> known_;
    double hidden_weight_ = 0; ///< time that looks stand for which saw nothing
    double touched_ = 0;       ///< bytes, each look's times the time that it stands for
    double cpu_ = 0;           ///< the processor time in which they were touched, times the same
    double weight_ = 0;
};

} // namespace

std::unique_ptr<MemoryUse> make_memory_use(pid_t root, std::optional<bool> shows_pages)
{
    auto counters = std::make_unique<HardwareCounters>(root);
    if (counters->work()) return counters;
    return std::make_unique<TouchedPages>(shows_pages);
}

bool shows_touched_pages()
{
    return TouchedPages::is_seen_at_speed();
}

double measure_bandwidth()
{
    Triad triad;
    double best = 0;
    for (int round = 0; round < 3; ++round) {
        const auto start = Clock::now();
        triad.run(0, Triad::kElements, round + 1);
        best = std::max(best, Triad::kElementBytes * static_cast<double>(Triad::kElements) / seconds_since(start));
    }
    return best;
}

} // namespace fathom::profile
