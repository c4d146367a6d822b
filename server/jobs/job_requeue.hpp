#pragma once

#include "core/model/job.hpp"
#include "server/events/job_event_log.hpp"
#include "server/store/transaction.hpp"

#include <string>

namespace fathom::server {

/// Has a job wait for another place, now that the attempt on it has ended without having run to its end.
/// @param why  for people: "center alpha is silent past its limit".
/// @return what is to be recorded of it
NewJobEvent requeue_job(pqxx::work& transaction, const JobId& job, const AttemptId& attempt, const std::string& center,
                        const std::string& why);

} // namespace fathom::server
