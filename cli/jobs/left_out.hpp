#pragma once

#include "cli/text/table.hpp"
#include "core/base/json_reader.hpp"

#include <string>
#include <utility>
#include <vector>

namespace fathom::cli {

/// What the list of operators of a job or job type and their probe task have no room for, for render_details(); empty
/// where they have room for all.
/// @param work  GET /jobs/{id}/operators or /job-types/{name}
std::vector<std::pair<std::string, Cell>> left_out_details(const Json& work);

} // namespace fathom::cli
