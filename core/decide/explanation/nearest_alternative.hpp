#pragma once

#include "core/decide/routing/route.hpp"

#include <string>
#include <string_view>

namespace fathom {

/// Why nothing can run the job, and what can be changed so that something can: "no center can finish before 18:00 UTC;
/// the earliest is 18:40 UTC at beta/core". Empty when there is a winner.
std::string nearest_alternative(const RouteRequest& request, const Decision& decision, std::string_view currency = {});

} // namespace fathom
