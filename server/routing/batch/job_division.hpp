#pragma once

#include "core/decide/routing/route.hpp"
#include "server/events/job_event_log.hpp"
#include "server/routing/batch/routing_store.hpp"
#include "server/store/transaction.hpp"

namespace fathom::server {

/// Decides for a job that waits, which is locked, whether it runs whole or in parts, and keeps the answer: it waits on,
/// whole or for the place of its first part. It runs whole where no division is better.
/// @param whole  the decision on the whole, on units of which nothing is taken: each part has starts of its own.
/// @return what is to be recorded of it. @error kInvalid  what is stored of the job cannot be read.
/// Blocks; pqxx's exceptions pass through. docs/decisions/0049-divided-jobs.md
Result<NewJobEvent> divide_waiting_job(pqxx::work& transaction, const WaitingJob& job, const Decision& whole);

} // namespace fathom::server
