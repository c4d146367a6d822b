#pragma once

#include "core/base/id.hpp"
#include "core/base/json_reader.hpp"
#include "core/model/job.hpp"
#include "server/store/transaction.hpp"

#include <string>
#include <vector>

namespace fathom::server {

/// One change of a job, to be recorded in the transaction that makes it.
struct NewJobEvent {
    JobId job_id;
    JobState state{JobState::kQueued};
    std::string cause;              ///< for people, one phrase
    Json evidence = Json::object(); ///< for programs: ids and figures behind the cause
};

/// Adds the events in order and wakes the event streams at commit. Blocks; pqxx's exceptions pass through.
void record_job_events(pqxx::work& transaction, const std::vector<NewJobEvent>& events);

} // namespace fathom::server
