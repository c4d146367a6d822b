#pragma once

#include "cli/client/session.hpp"
#include "cli/simulation/simulate_options.hpp"
#include "simulator/setup/join_scenario.hpp"

#include <optional>
#include <string>

/// What `fathom simulate` reads: its files, and which jobs count.
namespace fathom::cli {

struct LoadedCenters {
    simulation::CentersFile before; ///< as the file says
    simulation::CentersFile after;  ///< with the changes
};

/// @error kInvalid  the file cannot be read, or it or what the flags change is wrong.
Result<LoadedCenters> load_centers(Session& session, const SimulateOptions& options);

/// @error kInvalid  as read_workload(); also where the file cannot be opened.
Result<simulation::WorkloadInput> load_workload(const SimulateOptions& options);

/// FIRST:END, FIRST: or :END; empty for no text. @error kInvalid
Result<std::optional<simulation::CountedRange>> parse_counted(const std::string& text);

} // namespace fathom::cli
