#pragma once

#include "cli/text/table.hpp"
#include "core/base/json_reader.hpp"

#include <string>

namespace fathom::cli {

/// Of a job with steps: whether it runs whole or in parts, what that is expected to gain, and where each part ran or
/// is. Empty for others.
std::string job_parts_text(const Json& job, const TableStyle& style);

} // namespace fathom::cli
