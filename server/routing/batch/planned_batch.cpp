#include "server/routing/batch/planned_batch.hpp"

#include "server/store/log_after_commit.hpp"

#include <string>

namespace fathom::server {

void WaitNotes::note_reason(const WaitingJob& job, const std::string& reason)
{
    // A job that leaves metering has lost the reason that was read with it.
    if (reason != job.waiting_reason || job.state == JobState::kMetering) reasons.push_back({job.id, reason});
}

void WaitNotes::note_rank(const WaitingJob& job, double rank)
{
    if (rank != job.priority_rank) ranks.push_back({job.id, rank});
}

void WaitNotes::note_unroutable(const WaitingJob& job, const Error& error)
{
    const std::string reason = "cannot be routed: " + describe(error);
    if (job.waiting_reason != reason)
        log_after_commit(LogLevel::kError, "job_not_routed", {{"job_id", job.id.value}, {"error", describe(error)}});
    note_reason(job, reason);
}

} // namespace fathom::server
