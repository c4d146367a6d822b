#pragma once

#include "server/calendar/reservation_service.hpp"

namespace fathom::server {

/// `/reservations`.
void add_reservation_routes(ApiRouter& router, ReservationService& service, Database& database, const Clock& clock);

} // namespace fathom::server
