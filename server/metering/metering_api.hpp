#pragma once

#include "server/api/api_router.hpp"
#include "server/metering/metering_service.hpp"
#include "server/metering/scores_service.hpp"

namespace fathom::server {

/// Adds the routes of metric policies. All must outlive the router.
void add_metering_routes(ApiRouter& router, MeteringService& service, ScoresService& scores, Database& database);

} // namespace fathom::server
