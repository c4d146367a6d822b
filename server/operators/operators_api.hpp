#pragma once

#include "server/api/api_router.hpp"
#include "server/operators/operators_service.hpp"

namespace fathom::server {

/// Adds GET and POST /operators, GET and PUT /operators/{id}, GET /operators/{id}/versions, DELETE
/// /operators/{id}/versions/{version} and GET …/{version}/package. The service and the database must outlive the
/// router.
void add_operators_routes(ApiRouter& router, OperatorsService& service, Database& database);

} // namespace fathom::server
