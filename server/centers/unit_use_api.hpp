#pragma once

#include "server/api/api_router.hpp"
#include "server/store/database.hpp"

namespace fathom::server {

/// Adds /unit-use. `database` must outlive the router.
void add_unit_use_routes(ApiRouter& router, Database& database);

} // namespace fathom::server
