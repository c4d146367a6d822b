#pragma once

#include "simulator/world/scenario.hpp"

#include <cstdint>

/// What no policy can be below.
namespace fathom::simulation {

struct LeastCompletion {
    double alone_s{}; ///< each job has the network for itself, and runs where it runs shortest
    /// All units are one, as fast for each job as those that suit it best, which does whatever has least left and drops
    /// it for what comes with less (shortest remaining time first: the least there is for one machine); or alone_s,
    /// where that is more.
    double pooled_s{};
};

/// Means over the counted jobs of the scenario, with what chance adds to run times under this seed. As if no others
/// came. For scenarios without closures and transfers, or for less than the least.
LeastCompletion least_completion(const Scenario& scenario, std::uint64_t seed);

} // namespace fathom::simulation
