#pragma once

#include "server/api/api_router.hpp"
#include "server/projects/project_members_service.hpp"

namespace fathom::server {

/// Adds GET /projects/{name}/members, PUT and DELETE /projects/{name}/members/{token}. Both must outlive the router.
void add_project_members_routes(ApiRouter& router, ProjectMembersService& members);

} // namespace fathom::server
