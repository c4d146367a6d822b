#pragma once

#include "core/base/json_reader.hpp"

#include <string>

namespace fathom::probes {

/// The operators of this program for the resource type in use with their parameters, for people; at the end those that
/// cannot run here, each with the reason.
std::string operators_table();

/// `{"runner_version", "operators": [manifest, …], "unavailable": [{"id", "reason"}, …], "openblas_core",
/// "openblas_better_core"?}`, for programs: `operators` are those that can run here, and the core is what
/// OpenBLAS took this processor for (blas_core).
Json operators_json();

} // namespace fathom::probes
