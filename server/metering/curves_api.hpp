#pragma once

#include "core/base/clock.hpp"
#include "server/api/api_router.hpp"
#include "server/metering/curves_service.hpp"

namespace fathom::server {

/// Adds GET /scaling-curves, /load-curves and /network-windows. `service` and `clock` must outlive the router.
void add_curves_routes(ApiRouter& router, CurvesService& service, const Clock& clock, NetworkCalendar calendar = {});

} // namespace fathom::server
