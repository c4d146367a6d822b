#pragma once

// Internal to the stores of jobs: how a job with its newest attempt is read.

#include "server/jobs/job_record.hpp"
#include "server/store/statement.hpp"

#include <pqxx/row>

namespace fathom::server {

/// $1 id.
extern const Statement kSelectJob;
/// The beginning of a statement that reads jobs `j`, up to its FROM. Specs over 64 KiB come without their program,
/// and where they are larger still without their data.
extern const char* const kReadJobs;
/// What joins the newest attempt and its place to `job j`.
extern const char* const kJobJoins;

JobRecord to_job_record(const pqxx::row& row);

} // namespace fathom::server
