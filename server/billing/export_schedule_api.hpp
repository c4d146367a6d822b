#pragma once

#include "server/api/api_router.hpp"
#include "server/billing/export_schedule_service.hpp"

namespace fathom::server {

/// Adds /export-schedules, /export-schedules/{id} and POST /export-schedules/{id}/run. The references must outlive the
/// router.
void add_export_schedule_routes(ApiRouter& router, ExportScheduleService& service, Database& database);

} // namespace fathom::server
