#pragma once

#include "cli/client/session.hpp"
#include "cli/simulation/simulate_options.hpp"
#include "simulator/what_if/comparison.hpp"

namespace fathom::cli {

/// Figures before and after the changes: tables for people, JSON as the REST interface answers it, or CSV.
void print_comparison(Session& session, const SimulateOptions& options, const simulation::Comparison& comparison);

} // namespace fathom::cli
