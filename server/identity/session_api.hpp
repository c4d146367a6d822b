#pragma once

#include "server/api/api_router.hpp"
#include "server/identity/session_service.hpp"

namespace fathom::server {

/// /session: how a browser signs in and out. The service must outlive the router.
void add_session_routes(ApiRouter& router, SessionService& service);

/// The Set-Cookie header of a session's cookie; without a secret and time it takes the cookie away.
std::string session_cookie(std::string_view secret, std::chrono::seconds valid);

} // namespace fathom::server
