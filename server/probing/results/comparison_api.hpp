#pragma once

#include "server/api/api_router.hpp"
#include "server/store/database.hpp"

namespace fathom::server {

/// Adds /probe-orders/{id} and /probe-tasks/{id}/comparison (M12, M15). The database must outlive the router.
void add_comparison_routes(ApiRouter& router, Database& database);

} // namespace fathom::server
