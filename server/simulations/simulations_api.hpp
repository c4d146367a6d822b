#pragma once

namespace fathom::server {

class ApiRouter;
class SimulationsService;

/// POST /simulations. The service must outlive the router.
void add_simulations_routes(ApiRouter& api, SimulationsService& simulations);

} // namespace fathom::server
