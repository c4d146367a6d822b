#pragma once

#include "core/base/json_reader.hpp"
#include "probes/profile/own_code.hpp"

#include <string>

namespace fathom::profile {

/// For people: each loop with its share, what it is made of, and the operator that it is like, in words; empty when
/// nothing was looked for. Ends its lines.
std::string own_code_table(const OwnCode& code);

/// {"loops": [...], "others": share, "why_none": text or null}.
Json own_code_json(const OwnCode& code);

} // namespace fathom::profile
