#pragma once

#include "cli/text/table.hpp"
#include "core/base/clock.hpp"
#include "core/base/json_reader.hpp"

#include <string>

namespace fathom::cli {

/// A decision (core/decide/routing/route.hpp, `to_json`) as text: why the winner won and what is predicted of it, the
/// places with their prediction and what each lost by, what would change the choice, what is impossible, CPU or GPU,
/// assumptions, and the measurements behind it.
std::string render_decision(const Json& decision, Timestamp now, const TableStyle& style);

/// Two decisions on the same question, side by side: as things are, and as they would be.
std::string render_comparison(const Json& before, const Json& after, const TableStyle& style);

/// The whole answer to "where did my job go, and why": the job, its placement's decision, what of its operators is not
/// measured, what loops of its own are like, and the reasons that it waits, and the predicted against the actual once
/// it has ended.
/// @param job        GET /jobs/{id}
/// @param placement  GET /jobs/{id}/placement
/// @param work       GET /jobs/{id}/operators; null where that is not known
std::string render_explanation(const Json& job, const Json& placement, const Json& work, Timestamp now,
                               const TableStyle& style);

} // namespace fathom::cli
