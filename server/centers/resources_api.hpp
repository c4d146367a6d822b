#pragma once

#include "server/api/api_router.hpp"
#include "server/store/database.hpp"

namespace fathom::server {

/// Adds /centers/{id}/resources. `database` must outlive the router.
void add_resources_routes(ApiRouter& router, Database& database);

} // namespace fathom::server
