#pragma once

#include "core/base/result.hpp"
#include "simulator/world/scenario.hpp"

namespace fathom::simulation {

/// Whether the scenario can be simulated: numbers that are finite and not negative where they must not be, indices that
/// point at something, jobs by arrival, a counted range that holds jobs.
/// @error kInvalid  says which job, unit type or setting, and why.
Result<void> check_scenario(const Scenario& scenario);

} // namespace fathom::simulation
