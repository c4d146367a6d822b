#pragma once

#include "cli/simulate/engine.hpp"

namespace fathom {

/// How much of the units the work of a world takes while it arrives, each job at the place where it costs least
/// (core/decide/unit_worth): above 1 the queue grows. Needs two jobs with different arrivals.
double load_of(const SimulatedWorld& world);

} // namespace fathom
