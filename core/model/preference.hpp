#pragma once

#include "core/model/job.hpp"

#include <vector>

namespace fathom {

/// "fastest", "cheapest", "greenest", or `{"time", "cost", "energy"}` that sum to 1; adds to `errors` what is wrong, as
/// of the field `prefer`.
Preference parse_preference(const Json& json, std::vector<FieldError>& errors);
Json to_json(const Preference& preference);

} // namespace fathom
