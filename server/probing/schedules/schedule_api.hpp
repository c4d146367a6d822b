#pragma once

#include "server/api/api_router.hpp"
#include "server/probing/schedules/schedule_service.hpp"

namespace fathom::server {

/// /probe-schedules
void add_schedule_routes(ApiRouter& router, ScheduleService& service, Database& database);

} // namespace fathom::server
