#pragma once

#include "server/api/api_router.hpp"
#include "server/job_types/job_types_service.hpp"

namespace fathom::server {

/// Adds /jobs/{id}/operators and /job-types. Both must outlive the router.
void add_job_types_routes(ApiRouter& router, JobTypesService& types);

} // namespace fathom::server
