#pragma once

#include "agent/executor/executor.hpp"

#include <chrono>
#include <cstddef>
#include <optional>
#include <vector>

namespace fathom::agent {

/// When Slurm is asked what it plans for a new job, one unit type at a time: each every 30 s, and after the end of an
/// own job at once and then at intervals that double. Slurm counts a job for as long as its wall limit allows, some
/// seconds longer than it runs; that would keep others away. Asking takes 5 % of the time, or there are 30 s between
/// two questions. Not thread-safe.
class QueueLooks {
  public:
    using Time = std::chrono::steady_clock::time_point;

    void set_places(std::vector<QueuePlace> places);
    /// An own job has ended.
    void hasten(Time now);
    /// The place to be asked about; nothing: not yet. The caller tells looked() afterwards.
    std::optional<QueuePlace> due(Time now);
    /// @param took  how long Slurm took to answer, until `now`.
    void looked(Time now, std::chrono::milliseconds took);

  private:
    std::vector<QueuePlace> places_; ///< in turn, the next one first
    std::chrono::milliseconds interval_{};
    std::size_t left_in_round_{}; ///< places that have not been looked at this interval
    Time next_{};
    Time soonest_{};
};

} // namespace fathom::agent
