#pragma once

#include "server/api/api_router.hpp"
#include "server/projects/projects_service.hpp"

namespace fathom::server {

/// Adds GET /projects, GET and PUT /projects/{name}. Both must outlive the router.
void add_projects_routes(ApiRouter& router, ProjectsService& projects);

} // namespace fathom::server
