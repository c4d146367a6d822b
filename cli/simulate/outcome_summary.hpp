#pragma once

#include "cli/simulate/engine.hpp"

namespace fathom {

/// What the counted jobs of a simulation went through.
struct OutcomeSummary {
    double mean_completion_s{}; ///< from arrival to end
    double p95_completion_s{};
    double longest_wait_s{};
    /// Largest completion time over the job's shortest possible run time, of which less than 10 s count as 10 s
    /// (bounded slowdown: Feitelson et al., JSSPP 1997).
    double most_slowdown{};
    double utilization{}; ///< of all units from the first counted arrival to the last, 0..1
};

OutcomeSummary summarize_outcomes(const SimulatedWorld& world, const SimulationResult& result);

} // namespace fathom
