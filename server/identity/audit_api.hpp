#pragma once

#include "server/api/api_router.hpp"
#include "server/store/database.hpp"

namespace fathom::server {

/// GET /audit-log. The database must outlive the router.
void add_audit_routes(ApiRouter& router, Database& database);

} // namespace fathom::server
