#pragma once

#include "core/model/attempt.hpp"
#include "server/events/job_event_log.hpp"
#include "server/jobs/attempt_words.hpp"
#include "server/jobs/attempts_store.hpp"
#include "server/store/transaction.hpp"

#include <optional>

namespace fathom::server {

/// What the end of an attempt of a divided job's part means for the job.
struct EndedPart {
    std::optional<NewJobEvent> goes_on; ///< the next part waits for its place: what is to be recorded of it
    JobEnding ending;                   ///< else how the job ends
    double run_s{};                     ///< of the programs of all parts that ran until now, this one included
};

/// Keeps what came of the part, and has the job go on with the next one, or says how it ends. The job is locked by the
/// caller. What the part handed on becomes inputs of the next one.
/// @param run_s   of its program. @param cost  empty: nobody knows.
/// @param ending  of the attempt.
/// Blocks; pqxx's exceptions pass through.
EndedPart end_part(pqxx::work& transaction, const AttemptJob& job, const AttemptEnd& end, double run_s,
                   std::optional<double> cost, JobEnding ending);

} // namespace fathom::server
