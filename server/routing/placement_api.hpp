#pragma once

namespace fathom::server {

class ApiRouter;
class PlacementService;

/// GET /jobs/{id}/placement and POST /placements:preview. The service must outlive the router.
void add_placement_routes(ApiRouter& api, PlacementService& placements);

} // namespace fathom::server
