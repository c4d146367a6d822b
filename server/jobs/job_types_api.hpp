#pragma once

#include "server/api/api_router.hpp"
#include "server/jobs/job_types_service.hpp"
#include "server/jobs/projects_service.hpp"

namespace fathom::server {

/// Adds /jobs/{id}/operators, /job-types and /projects. All must outlive the router.
void add_job_types_routes(ApiRouter& router, JobTypesService& types, ProjectsService& projects);

} // namespace fathom::server
