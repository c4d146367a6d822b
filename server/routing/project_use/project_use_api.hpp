#pragma once

#include "core/base/clock.hpp"
#include "server/routing/project_use/project_use_service.hpp"

namespace fathom::server {

class ApiRouter;

/// GET /projects/{name}/use. What is passed must outlive the router.
void add_project_use_routes(ApiRouter& api, ProjectUseService& uses, const Clock& clock);

} // namespace fathom::server
