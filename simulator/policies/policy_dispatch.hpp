#pragma once

#include "simulator/policies/policy.hpp"

namespace fathom::simulation {

/// How a job's unit type is chosen where nobody measures. Ties, and what a rule leaves open, go to the least loaded
/// one, then to the one with more free units, then to the first.
enum class DispatchRule {
    kRandom,     ///< by lot, each unit with the same chance
    kRoundRobin, ///< in turn, each unit as often (smooth weighted round robin)
    kLeastLoaded,
    kPeakFlops, ///< highest peak of a unit among those where it can start at once, else the least loaded
    kBenchmark, ///< the same with the one benchmark that all have run
    kFavourite, ///< a user's own, drawn once, each unit with the same chance; of those that fit
    /// Least wait and run: none where it can start at once, else all work there by estimates over units and their
    /// peaks; and the run as expected.
    kShortestCompletion,
};

/// Hands jobs over to centers as they come. Loads are as reported, with what was sent there since: whoever sends knows
/// that, and without it all jobs between two reports would go to one place. Jobs get as many units as they ask for.
///
/// A start's predicted_s is what the center's queue takes for the job's limit: start-up, transfers, and the run as
/// expected (the knowledge is taken to be nominal), but as if no unit were faster than the mean one: who moves to a
/// faster machine leaves the limit as it was.
PolicyMaker dispatch_policy(DispatchRule rule);

} // namespace fathom::simulation
