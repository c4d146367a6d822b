#pragma once

#include "server/api/api_router.hpp"
#include "server/identity/session_service.hpp"

namespace fathom::server {

/// /session: how a browser signs in and out. The service must outlive the router.
void add_session_routes(ApiRouter& router, SessionService& service);

} // namespace fathom::server
