#pragma once

#include "server/calendar/maintenance_service.hpp"

namespace fathom::server {

/// `/maintenance-windows`.
void add_maintenance_routes(ApiRouter& router, MaintenanceService& service, Database& database, const Clock& clock);

} // namespace fathom::server
