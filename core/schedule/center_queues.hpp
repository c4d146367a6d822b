#pragma once

#include "core/schedule/wanted_places.hpp"

#include <unordered_map>

namespace fathom {

/// Which centers' own queues jobs may join. Units behind such a queue are not free: a job that joins uses no idle unit,
/// and stays in the queue while other jobs pass. So a job joins only where it would end earlier than at the places that
/// it would wait for here, even if it were the last of the waiting jobs. Pure.
class CenterQueues {
  public:
    /// @param views  the jobs that wait, with known or assumed run times of all options.
    CenterQueues(const WantedPlaces& places, std::span<const WaitingJobView> views);

    /// The options without those of queues that are too long; the same list where all stay.
    JobOptions without_long(const JobOptions& options) const;

  private:
    double end_s(const JobOption& option) const;
    double end_as_last_s(const JobOption& option) const;

    const WantedPlaces* places_;
    /// By unit type, in seconds: how long the type would take for the waiting jobs that would run there if each were
    /// alone.
    std::unordered_map<std::size_t, double> backlog_s_;
};

/// Whether one of the options is in a center's own queue.
bool joins_queue(const JobOptions& options, const WantedPlaces& places);

} // namespace fathom
