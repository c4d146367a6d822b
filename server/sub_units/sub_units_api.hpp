#pragma once

#include "server/sub_units/sub_units_service.hpp"

namespace fathom::server {

/// `/sub-units`, `/sub-unit-requests`, `/sub-unit-grants`, `/sub-unit-events`.
void add_sub_unit_routes(ApiRouter& router, SubUnitsService& service, Database& database);

} // namespace fathom::server
