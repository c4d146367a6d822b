#include "server/jobs/job_requeue.hpp"

#include "core/base/log.hpp"
#include "server/jobs/attempts_store.hpp"

namespace fathom::server {

NewJobEvent requeue_job(pqxx::work& transaction, const JobId& job, const AttemptId& attempt, const std::string& center,
                        const std::string& why)
{
    update_job_requeued(transaction, job);
    log_warning("job_requeued",
                {{"job_id", job.value}, {"attempt_id", attempt.value}, {"center", center}, {"cause", why}});
    NewJobEvent event;
    event.job_id = job;
    event.state = JobState::kQueued;
    event.cause = why + ": placed anew";
    event.evidence = {{"attempt_id", attempt.value}, {"center", center}};
    return event;
}

} // namespace fathom::server
