#pragma once

#include "server/api/api_router.hpp"
#include "server/store/database.hpp"

namespace fathom::server {

/// Adds /shared-gpus and /jobs/{id}/gpus. `database` must outlive the router.
void add_shared_gpus_routes(ApiRouter& router, Database& database);

} // namespace fathom::server
