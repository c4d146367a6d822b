#pragma once

#include "server/jobs/attempts_store.hpp"
#include "server/jobs/jobs_store.hpp"

/// How a job is stopped that has not ended. The caller has locked the job. All functions block and let pqxx's
/// exceptions through to Database::run.
namespace fathom::server {

/// Has the center of the job's live attempt stop it, and records that as an event. Asking twice changes nothing.
/// @param cause  for people
void ask_center_to_stop(pqxx::work& transaction, const JobId& id, const LockedJob& job, const std::string& cause);

/// Ends the live attempt, if there is one, as cancelled at `now`, without word from its center. Should the center hold
/// it all the same, it is told to stop it when it reports.
/// @param cause  for people
/// @return the job's end, which the caller carries out
EndedJob stop_without_center(pqxx::work& transaction, const JobId& id, const LockedJob& job, const std::string& cause,
                             Timestamp now);

} // namespace fathom::server
