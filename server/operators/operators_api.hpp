#pragma once

#include "server/api/api_router.hpp"
#include "server/operators/operators_service.hpp"

namespace fathom::server {

/// Adds GET /operators and /operators/{id}. The service must outlive the router.
void add_operators_routes(ApiRouter& router, OperatorsService& service);

} // namespace fathom::server
