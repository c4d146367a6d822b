#pragma once

#include "core/decide/routing/route.hpp"

#include <string>

namespace fathom {

/// Equal for requests of one kind: jobs that differ in nothing but deadline, budget and what their project has used.
/// Part of core/decide/routing/route.
std::string kind_key(const RouteRequest& request);

} // namespace fathom
