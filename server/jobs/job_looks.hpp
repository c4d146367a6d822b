#pragma once

#include "server/identity/job_look.hpp"
#include "server/jobs/jobs_store.hpp"
#include "server/store/transaction.hpp"

#include <vector>

/// Records in the audit log of those who look at jobs that they see by their role alone.
namespace fathom::server {

/// What of a job is looked at.
enum class JobContent { kSpecification, kOutput };

/// Records the list if one of its jobs is seen so. @return whether it was written.
bool record_list(pqxx::transaction_base& transaction, const JobReader& reader, const std::vector<JobRecord>& jobs);

/// Records the look at the job if it is seen so.
void record_look(pqxx::transaction_base& transaction, const JobReader& reader, const JobRecord& job,
                 JobContent content);

} // namespace fathom::server
