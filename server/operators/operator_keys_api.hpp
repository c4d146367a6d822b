#pragma once

#include "server/api/api_router.hpp"
#include "server/operators/operator_keys_service.hpp"

namespace fathom::server {

/// Adds GET and POST /operator-keys, DELETE /operator-keys/{id}. The service and the database must outlive the
/// router.
void add_operator_keys_routes(ApiRouter& router, OperatorKeysService& service, Database& database);

} // namespace fathom::server
