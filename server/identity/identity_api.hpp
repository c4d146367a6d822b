#pragma once

#include "server/api/api_router.hpp"
#include "server/identity/identity_service.hpp"

namespace fathom::server {

/// POST, GET and DELETE of /tokens. The service and the database must outlive the router.
void add_identity_routes(ApiRouter& router, IdentityService& identity, Database& database);

} // namespace fathom::server
