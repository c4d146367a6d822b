#include "server/jobs/job_requeue.hpp"

#include "core/base/log.hpp"
#include "server/catalog/job_operators.hpp"
#include "server/jobs/job_requeue_store.hpp"
#include "server/store/after_commit.hpp"

namespace fathom::server {

bool has_other_place(pqxx::work& transaction, const AttemptJob& job, const AttemptId& attempt,
                     const CatalogSnapshot& catalog)
{
    if (job.label != "job" || job.is_cancel_requested) return false;
    RefusedJob refused = add_refused_center(transaction, attempt);
    const Result<JobSpec> spec = parse_job_spec(Json::parse(refused.spec));
    if (!spec || !spec->gang.id.empty()) return false;
    return check_feasible(*spec, catalog, std::move(refused.centers)).has_value();
}

NewJobEvent requeue_job(pqxx::work& transaction, const JobId& job, const AttemptId& attempt, const std::string& center,
                        const std::string& why)
{
    update_job_requeued(transaction, job);
    after_commit([job, attempt, center, why] {
        log_warning("job_requeued",
                    {{"job_id", job.value}, {"attempt_id", attempt.value}, {"center", center}, {"cause", why}});
    });
    NewJobEvent event;
    event.job_id = job;
    event.state = JobState::kQueued;
    event.cause = why + ": placed anew";
    event.evidence = {{"attempt_id", attempt.value}, {"center", center}};
    return event;
}

} // namespace fathom::server
