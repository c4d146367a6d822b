#pragma once

#include "core/model/job.hpp"

#include <string>
#include <vector>

namespace fathom {

/// The units of a job's specification, which are the field `path`; adds to `errors` what is wrong.
UnitRequest parse_unit_request(const Json& json, const std::string& path, std::vector<FieldError>& errors);
/// As parse_unit_request() reads them.
Json units_json(const UnitRequest& units);

} // namespace fathom
