#include "server/routing/batch/planned_batch.hpp"

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

} // namespace fathom::server
