#pragma once

#include "core/schedule/wanted_places.hpp"

#include <unordered_map>

namespace fathom {

/// Which centers' own queues jobs may join. Units behind such a queue are not free: who joins it takes nothing that
/// would be idle, and is bound to it while others pass. So a job does only where it would end earlier than where it
/// would wait here, also when it were the last of those that wait. Pure.
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
    /// By unit type: how long it would take what waiting jobs would run there if each were alone.
    std::unordered_map<std::size_t, double> backlog_s_;
};

} // namespace fathom
