#pragma once

#include "server/api/api_router.hpp"
#include "server/metering/metering_service.hpp"

namespace fathom::server {

/// Adds /metric-policies and /scores. Both must outlive the router.
void add_metering_routes(ApiRouter& router, MeteringService& service, Database& database);

} // namespace fathom::server
