#pragma once

#include "core/model/job.hpp"
#include "server/store/transaction.hpp"

#include <string>
#include <vector>

/// Rows of jobs that run again or go elsewhere. All functions take the caller's transaction, block, and let pqxx's
/// exceptions through to Database::run.
namespace fathom::server {

/// A job that centers have refused for whose it is.
struct RefusedJob {
    std::string spec;                 ///< JSON text
    std::vector<std::string> centers; ///< ids of those that have
};
/// Adds the attempt's center to those that have refused the attempt's job.
RefusedJob add_refused_center(pqxx::work& transaction, const AttemptId& attempt);
/// Its attempt has ended, and it waits for another place.
void update_job_requeued(pqxx::work& transaction, const JobId& job);

} // namespace fathom::server
