#pragma once

#include "core/model/job.hpp"
#include "server/catalog/catalog_snapshot.hpp"
#include "server/events/job_event_log.hpp"
#include "server/jobs/attempts_store.hpp"
#include "server/store/transaction.hpp"

#include <string>

namespace fathom::server {

/// Notes that a center has refused a job for whose it is, and looks whether the job could ever run at another one.
/// False for a probe, a member of a gang, whose others have started, and a job that is to be cancelled.
bool has_other_place(pqxx::work& transaction, const AttemptJob& job, const AttemptId& attempt,
                     const CatalogSnapshot& catalog);

/// Has a job wait for another place, now that the attempt on it has ended without having run to its end.
/// @param why  for people: "center alpha is silent past its limit".
/// @return what is to be recorded of it
NewJobEvent requeue_job(pqxx::work& transaction, const JobId& job, const AttemptId& attempt, const std::string& center,
                        const std::string& why);

} // namespace fathom::server
