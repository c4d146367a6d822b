#pragma once

#include "cli/table.hpp"
#include "core/base/clock.hpp"
#include "core/base/json_reader.hpp"

#include <string>

namespace fathom::cli {

/// A decision (core/decide/route.hpp, `to_json`) as text: why the winner won, every candidate with its
/// prediction and what it lost by, what is impossible, assumptions, and the measurements behind it.
std::string render_decision(const Json& decision, Timestamp now, const TableStyle& style);

/// The whole answer to "where did my job go, and why": the job, its placement's decision, and the
/// predicted against the actual run time once it has ended.
/// @param job        GET /jobs/{id}
/// @param placement  GET /jobs/{id}/placement
std::string render_explanation(const Json& job, const Json& placement, Timestamp now, const TableStyle& style);

} // namespace fathom::cli
