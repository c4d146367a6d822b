#pragma once

#include "server/api/api_router.hpp"
#include "server/jobs/jobs_service.hpp"

#include <cstdint>

namespace fathom::server {

/// GET /jobs/{id}/output: an output of a job from the copy that its center keeps, through the session of the center's
/// agent. It comes piece by piece as the client takes it, so that no more than a range is in memory for each answer;
/// whoever goes away is not read for any more.
/// @param most_bytes  of an output that passes through; of larger ones the answer says where they lie. 0: none passes
void add_outputs_routes(ApiRouter& api, JobsService& jobs, Database& database, std::int64_t most_bytes);

} // namespace fathom::server
