#pragma once

#include "core/base/json_reader.hpp"
#include "core/model/probe_task.hpp"
#include "server/probing/orders/run_selection.hpp"

#include <string>
#include <vector>

namespace fathom::server {

/// What is to be measured where: the body of POST /probe-runs, which a schedule keeps and repeats.
struct RunOrder {
    std::string probe_task_id;          ///< this …
    std::string job_type;               ///< … or the released task of this type …
    std::vector<OperatorUse> operators; ///< … or these; none of them: every operator at its default size
    bool is_forced{false};              ///< also a task that is not released
    SelectionOrder places;

    /// Every operator that a unit type runs, at its default size.
    bool is_full_benchmark() const { return probe_task_id.empty() && job_type.empty() && operators.empty(); }
};

/// Reads an order strictly. What it names may not be there: that is found out when its runs are planned.
/// @error kInvalid  with every field error.
Result<RunOrder> parse_run_order(const Json& json);

} // namespace fathom::server
