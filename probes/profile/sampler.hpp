#pragma once

#include "probes/profile/counts_file.hpp"
#include "probes/profile/memory_use.hpp"
#include "probes/profile/process_tree.hpp"
#include "probes/profile/program_counters.hpp"

#include <chrono>
#include <optional>

namespace fathom::profile {

/// Where the time outside operators went, in seconds of threads.
struct OutsideTime {
    double running_s{};
    double io_s{};
    double waiting_s{};
};

/// Looks at a running program from outside, again and again. Nothing is done inside the program for it.
/// Not thread-safe.
class Sampler {
  public:
    /// @param shows_pages  as make_memory_use()
    Sampler(const Counts& counts, pid_t root, std::optional<bool> shows_pages = {});

    /// One look. The time since the last one is attributed to what is seen now.
    void look();
    /// How long to wait before the next look, so that looking costs at most a hundredth of a core.
    std::chrono::milliseconds interval() const { return interval_; }

    /// After the program has ended: takes the last of what the kernel saw of it.
    void look_back() { counters_.look(); }
    /// After the program has ended: whether what was seen of its memory can be believed (MemoryUse::check_machine).
    void check_machine() { memory_use_->check_machine(); }

    const OutsideTime& outside() const { return outside_; }
    const MemoryUse& memory_use() const { return *memory_use_; }
    /// Where it was within its code.
    const ProgramCounters& counters() const { return counters_; }
    const ProcessTree& tree() const { return tree_; }
    /// When a slot's thread was last seen alive, in ticks; 0: never.
    std::uint64_t last_alive(std::size_t slot) const { return slot < last_alive_.size() ? last_alive_[slot] : 0; }

  private:
    void attribute(const std::vector<ThreadView>& threads, double elapsed_s);
    std::vector<pid_t> attached() const;

    const Counts& counts_;
    ProcessTree tree_;
    std::unique_ptr<MemoryUse> memory_use_;
    ProgramCounters counters_;
    OutsideTime outside_;
    std::vector<std::uint64_t> last_alive_;
    std::chrono::steady_clock::time_point last_look_;
    std::chrono::milliseconds interval_;
};

} // namespace fathom::profile
