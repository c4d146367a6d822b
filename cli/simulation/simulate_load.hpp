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

/// The scenario in which jobs share GPUs; empty: --gpu-sharing is off.
/// @error kInvalid  the table of pairs cannot be read, or as share_gpus().
Result<std::optional<simulation::Scenario>> load_shared(const SimulateOptions& options,
                                                        const simulation::Scenario& scenario);

/// FIRST:END, FIRST: or :END; empty for no text. @error kInvalid
Result<std::optional<simulation::CountedRange>> parse_counted(const std::string& text);

} // namespace fathom::cli
