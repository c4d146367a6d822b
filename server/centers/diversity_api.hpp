#pragma once

#include "server/api/api_router.hpp"
#include "server/store/database.hpp"

namespace fathom::server {

/// Adds /diversity (M18). The database must outlive the router.
void add_diversity_routes(ApiRouter& router, Database& database);

} // namespace fathom::server
