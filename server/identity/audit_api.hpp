#pragma once

#include "server/api/api_router.hpp"
#include "server/api/compute_pool.hpp"
#include "server/store/database.hpp"

namespace fathom::server {

/// GET /audit-log and /audit-log:verify. Database and pool must outlive the router.
void add_audit_routes(ApiRouter& router, Database& database, ComputePool& compute);

} // namespace fathom::server
