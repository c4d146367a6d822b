#pragma once

#include "agent/executor/executor.hpp"

namespace fathom::agent {

Json to_json(const BatchPlace& place);
/// @error kInvalid  not what to_json() wrote.
Result<BatchPlace> read_batch_place(const Json& json);

/// As JSON: in order.json, and between the agent and its helper.
Json to_json(const RunOrder& run);

/// Other fields of the object are left alone.
/// @error kInvalid  not what to_json() wrote.
Result<RunOrder> read_run_order(const Json& json);

} // namespace fathom::agent
