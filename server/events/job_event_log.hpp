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

/// What a transaction has to tell of the jobs that it changes; told once, at its end, however many they are.
struct JobChanges {
    std::vector<NewJobEvent> events; ///< in order
    bool wakes_router{false};        ///< units came free, or a job waits
};

/// Adds the events in order and wakes the event streams at commit. Blocks; pqxx's exceptions pass through.
void record_job_events(pqxx::work& transaction, const std::vector<NewJobEvent>& events);

/// Adds the events in order, and wakes at commit the event streams and, where it is to be woken, the router. Blocks;
/// pqxx's exceptions pass through.
void record_job_changes(pqxx::work& transaction, const JobChanges& changes);

} // namespace fathom::server
