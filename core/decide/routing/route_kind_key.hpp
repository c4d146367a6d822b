#pragma once

#include "core/decide/routing/route.hpp"

#include <string>

namespace fathom {

/// Equal for requests of one kind: jobs that differ in nothing but deadline, budget, what their project has used, and
/// wall limits that the same places allow.
/// Part of core/decide/routing/route.
/// @param limits_below  RouteColumns::limits_below() of the request's wall limit.
std::string kind_key(const RouteRequest& request, std::size_t limits_below);

} // namespace fathom
