#pragma once

namespace fathom::server {

class ApiRouter;
class RoutingService;

/// GET /jobs/{id}/placement and POST /placements:preview. The service must outlive the router.
void add_routing_routes(ApiRouter& api, RoutingService& routing);

} // namespace fathom::server
