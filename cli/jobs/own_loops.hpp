#pragma once

#include "cli/text/table.hpp"
#include "core/base/json_reader.hpp"

namespace fathom::cli {

/// Loops of a program's own code, found by sampling (docs/profiling.md): where each is, its share of the time, and the
/// operator that it is like, with how near it is to that. Empty where there are none.
/// @param loops  `remainder.code.loops` of GET /jobs/{id}/operators, or `own_loops` of a job type; may be of any kind
Table loops_table(const Json& loops);

/// These of GET /jobs/{id}/operators; null where there are none.
const Json& loops_of_job(const Json& work);

} // namespace fathom::cli
