#pragma once

#include "core/base/json_reader.hpp"

#include <string>

namespace fathom::probes {

/// The operators of this program with their parameters, for people.
std::string operators_table();

/// `{"runner_version": …, "operators": [manifest, …]}`, for programs.
Json operators_json();

} // namespace fathom::probes
