#pragma once

namespace fathom::server {

class ApiRouter;
class Database;
class JobsService;

/// POST /jobs, GET /jobs, GET /jobs/{id}, POST /jobs/{id}:cancel, GET /jobs/{id}/logs/{stream}. What is passed
/// must outlive the router.
void add_jobs_routes(ApiRouter& api, JobsService& jobs, Database& database);

} // namespace fathom::server
