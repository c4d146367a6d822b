#pragma once

// Internal to jobs_store: how a job with its newest attempt is read.

#include "server/jobs/job_record.hpp"
#include "server/store/statement.hpp"

#include <pqxx/row>

namespace fathom::server {

/// $1 id.
extern const Statement kSelectJob;
/// $1 label or 'all', $2 state, $3 project, $4 owner (empty for any), $5 below this id, $6 limit.
extern const char* const kSelectJobs;
/// The same for a JobScope with projects, which are $7.
extern const char* const kSelectJobsOfScope;

JobRecord to_job_record(const pqxx::row& row);

} // namespace fathom::server
