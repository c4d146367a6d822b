#pragma once

#include "server/api/api_router.hpp"
#include "server/centers/kept_files.hpp"
#include "server/jobs/jobs_service.hpp"

#include <chrono>
#include <cstdint>
#include <functional>

namespace fathom::server {

using SteadyNow = std::function<std::chrono::steady_clock::time_point()>;

/// GET /jobs/{id}/output: an output of a job from the copy that its center keeps, through the session of the center's
/// agent. It comes piece by piece as the client takes it, so that no more than a range is in memory for each answer;
/// whoever goes away is not read for any more, and whoever takes less than 64 KiB a second is cut off, and may come
/// back for the rest.
/// @param files       must outlive the routes
/// @param most_bytes  of an output that passes through; of larger ones the answer says where they lie. 0: none passes
/// @param now  the time, for tests
void add_outputs_routes(ApiRouter& api, JobsService& jobs, KeptFiles& files, std::int64_t most_bytes,
                        SteadyNow now = std::chrono::steady_clock::now);

} // namespace fathom::server
