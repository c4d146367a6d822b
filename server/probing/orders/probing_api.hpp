#pragma once

#include "server/api/api_router.hpp"
#include "server/probing/orders/probing_service.hpp"

namespace fathom::server {

/// Adds /probe-tasks and /probe-runs. Both must outlive the router.
void add_probing_routes(ApiRouter& router, ProbingService& service, Database& database);

} // namespace fathom::server
