#pragma once

#include "simulator/workloads/read_workload.hpp"
#include "simulator/world/centers_file.hpp"

#include <cstddef>
#include <optional>
#include <vector>

namespace fathom::simulation {

/// Jobs that figures are taken over: first … end − 1 of those that are simulated.
struct CountedRange {
    std::size_t first{};
    std::optional<std::size_t> end; ///< empty: all that follow
};

struct JoinSettings {
    std::optional<CountedRange> counted{}; ///< empty: all
    std::optional<double> load{};          ///< arrivals are stretched or pressed together until the load is this
};

struct JoinedScenario {
    Scenario scenario;
    std::vector<std::int64_t> lines; ///< of each job in the workload's file
};

/// Puts a workload into a network. Job types, centers and unit types ("core", or "alpha/core") are found by name. A job
/// type that the network does not know runs as fast as the workload itself says of unit types of that name, else at
/// their rate of "*", else nowhere. Left out, each by its rule and line: jobs for a center or unit type that is not
/// there, of a type that runs nowhere where they may run, and larger than any of these unit types.
/// @error kInvalid  no job is left, the counted range has none, or the load cannot be reached.
Result<JoinedScenario> join_scenario(const CentersFile& centers, WorkloadInput input,
                                     const JoinSettings& settings = {});

} // namespace fathom::simulation
