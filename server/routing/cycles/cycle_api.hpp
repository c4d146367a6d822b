#pragma once

namespace fathom::server {

class ApiRouter;
class CycleService;

/// GET /cycles, /cycles/{id}, and its /jobs and /replay. They show everybody's jobs: for those who may read all of
/// them.
void add_cycle_routes(ApiRouter& api, CycleService& cycles);

} // namespace fathom::server
