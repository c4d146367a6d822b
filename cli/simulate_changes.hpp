#pragma once

#include "cli/simulate_options.hpp"
#include "core/base/json_reader.hpp"

namespace fathom::cli {

/// The centers file with what the flags change about it. The file is sound; whether the changes leave it so, its parser
/// says.
/// @error kInvalid  a change names no place in it, or is not written as it must be.
Result<Json> changed_centers(Json centers, const SimulateOptions& options);

} // namespace fathom::cli
