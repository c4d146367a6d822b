#pragma once

#include "server/api/api_router.hpp"
#include "server/operators/operator_reviews_service.hpp"

namespace fathom::server {

/// Adds GET and POST /operator-reviews, GET /operator-reviews/{id}/package, and POST /operator-reviews/{id}:approve and
/// :reject. The service and the database must outlive the router.
void add_operator_reviews_routes(ApiRouter& router, OperatorReviewsService& service, Database& database);

} // namespace fathom::server
