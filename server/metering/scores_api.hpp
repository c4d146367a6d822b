#pragma once

#include "server/api/api_router.hpp"
#include "server/metering/scores_service.hpp"

namespace fathom::server {

/// Adds GET /scores and /scores/history. Both must outlive the router.
void add_scores_routes(ApiRouter& router, ScoresService& scores);

} // namespace fathom::server
