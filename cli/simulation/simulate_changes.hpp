#pragma once

#include "cli/simulation/simulate_options.hpp"
#include "core/base/json_reader.hpp"
#include "simulator/world/centers_file.hpp"

namespace fathom::cli {

/// The centers file with what the flags change about it.
/// @param centers   as parse_centers() takes it.
/// @error kInvalid  a change names no place in it, is not written as it must be, or leaves what is no centers file:
/// says
///                  which flag.
Result<simulation::CentersFile> changed_centers(Json centers, const SimulateOptions& options);

} // namespace fathom::cli
