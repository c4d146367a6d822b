#pragma once

#include "server/api/api_router.hpp"
#include "server/centers/centers_service.hpp"
#include "server/centers/enrolment_service.hpp"

namespace fathom::server {

/// Adds /centers, /unit-types and /enrolment-tokens. All must outlive the router.
void add_centers_routes(ApiRouter& router, CentersService& centers, EnrolmentService& enrolment, Database& database);

/// POST /agents:enrol, open to whoever holds an enrolment token; for both listeners.
void add_enrolment_routes(ApiRouter& router, EnrolmentService& enrolment);

} // namespace fathom::server
