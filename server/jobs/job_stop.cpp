#include "server/jobs/job_stop.hpp"

#include "server/events/job_event_log.hpp"
#include "server/store/notifier.hpp"

namespace fathom::server {

void ask_center_to_stop(pqxx::work& transaction, const JobId& id, const LockedJob& job, const std::string& cause)
{
    FATHOM_ASSERT(job.attempt.has_value());
    if (job.is_cancel_requested) return;
    update_cancel_requested(transaction, id);
    record_job_events(transaction, {{id, job.state, cause + ": its center is told to stop it",
                                     Json{{"attempt_id", job.attempt->value}}}});
    notify(transaction, "dispatch", job.center_id.value);
}

EndedJob stop_without_center(pqxx::work& transaction, const JobId& id, const LockedJob& job, const std::string& cause,
                             Timestamp now)
{
    if (!job.is_cancel_requested) update_cancel_requested(transaction, id);
    if (job.attempt) {
        AttemptEnd end;
        end.attempt_id = *job.attempt;
        end.outcome = AttemptOutcome::kCancelled;
        end.detail = cause;
        end.ended_at = now;
        // A center that cannot be reached may have run it for a while.
        update_to_ended(transaction, end, job.is_attempt_sent ? std::nullopt : std::optional<double>(0), std::nullopt);
    }
    EndedJob ended;
    ended.id = id;
    ended.state = JobState::kCancelled;
    ended.reason = cause;
    return ended;
}

} // namespace fathom::server
