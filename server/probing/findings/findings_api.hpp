#pragma once

#include "server/api/api_router.hpp"
#include "server/probing/findings/findings_service.hpp"

namespace fathom::server {

/// Adds GET /probe-findings and POST /probe-findings/{id}:dismiss. All must outlive the router.
void add_findings_routes(ApiRouter& router, FindingsService& service, Database& database);

} // namespace fathom::server
