#pragma once

#include "server/api/api_router.hpp"
#include "server/store/database.hpp"

namespace fathom::server {

/// `/speedup:predict`, `/speedup:curve` and `/speedup-accuracy`: CPU or GPU (spec 2).
void add_speedup_routes(ApiRouter& router, Database& database);

} // namespace fathom::server
