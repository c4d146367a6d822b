#pragma once

#include "core/base/result.hpp"
#include "core/decide/routing/route.hpp"
#include "core/model/job_parts.hpp"
#include "server/events/job_event_log.hpp"
#include "server/routing/batch/routing_store.hpp"
#include "server/store/transaction.hpp"

#include <cstdint>
#include <string>

/// Whether a job runs whole or in parts: read in one transaction, decided in none, and kept in another one, where the
/// job still waits as it did (docs/decisions/0049-divided-jobs.md).
namespace fathom::server {

/// A job that waits for that decision, with what is stored of its steps.
struct UndividedJob {
    WaitingJob job;
    RouteRequest request; ///< of the whole
    JobSteps steps;
    Json spec;         ///< that is stored
    JobSpec submitted; ///< as its owner knows it
};
/// @error kInvalid  what is stored of the job cannot be read. Blocks; pqxx's exceptions pass through.
Result<UndividedJob> read_undivided_job(pqxx::work& transaction, const WaitingJob& job, const RouteRequest& request);

/// The answer, as it is to be kept.
struct DecidedDivision {
    DecidedJob job;
    std::string steps; ///< JSON text
    std::string spec;  ///< JSON text: of the whole, or of its first part
    NewJobEvent event;
};
/// Only computes. The job runs whole where no division is better.
/// @param whole  the decision on the whole, on units of which nothing is taken: each part has starts of its own.
/// @error kInvalid  what is stored of the job cannot be read.
Result<DecidedDivision> divide_job(const UndividedJob& undivided, const Decision& whole);

/// Keeps the answer for a job that waits, which is locked: it waits on, whole or for the place of its first part. Its
/// event is for the caller to record. Blocks; pqxx's exceptions pass through.
void update_to_divided(pqxx::work& transaction, const DecidedDivision& division);

} // namespace fathom::server
