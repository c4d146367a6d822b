#pragma once

#include "server/api/api_router.hpp"
#include "server/metering/curves_service.hpp"

namespace fathom::server {

/// Whether the metascheduler computes results of probes itself, for people.
struct VerificationState {
    bool is_enabled{};
    double share{}; ///< of the results after a unit type's first
};

/// Adds GET /trust. `service` must outlive the router.
void add_trust_routes(ApiRouter& router, CurvesService& service, VerificationState verification);

} // namespace fathom::server
