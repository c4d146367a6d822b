#pragma once

#include "server/api/query.hpp"
#include "server/jobs/jobs_service.hpp"
#include "server/jobs/log_stream.hpp"

#include <vector>

namespace fathom::server {

/// The body of POST /jobs: one job, or an array of 1 to 1000.
struct SubmitRequest {
    std::vector<JobSpec> specs;
    JobsService::Batch batch = JobsService::Batch::kOne;
};
/// @error kInvalid  every field error of every job, with `[i].` before the fields of an array's; also operators of more
///                  than 16 KiB and data.sites of more than 8 KiB, as JSON.
Result<SubmitRequest> parse_submit_request(const Json& body);

JobFilter job_filter_of(const Query& query);

/// @error kNotFound  a stream that is neither stdout nor stderr, or a malformed id.
Result<LogRequest> parse_log_request(const net::Request& request);

} // namespace fathom::server
