#pragma once

#include "cli/simulation/simulate_records.hpp"
#include "cli/text/table.hpp"

#include <string>

namespace fathom::cli {

/// What was simulated and what came of it, for people.
/// @param by  "project" or "center": further tables of these; empty: none.
std::string render_simulated(const SimulatedRuns& simulated, const std::string& by, const TableStyle& style);

} // namespace fathom::cli
