#include "server/jobs/probe_job_writer.hpp"

#include "server/jobs/job_finalizer.hpp"
#include "server/jobs/job_stop.hpp"
#include "server/store/database_now.hpp"

namespace fathom::server {

Result<void> JobsProbeJobWriter::insert_probe_job(pqxx::work& transaction, const JobId& id, const JobSpec& spec,
                                                  const std::string& submitted_by)
{
    const AdmittedJob admitted{spec, spec.type, {}};
    const std::shared_ptr<const JobRecord> job =
        std::make_shared<const JobRecord>(make_job_record(id, "probe", admitted, submitted_by));
    insert_jobs(transaction, {&job, 1});
    return {};
}

void JobsProbeJobWriter::stop_probe_job(pqxx::work& transaction, const JobId& id, const std::string& cause)
{
    const std::optional<LockedJob> job = lock_job(transaction, id);
    if (!job || is_final(job->state) || job->is_cancel_requested) return;
    // A center that fell silent, too: it may run the job, and is told when it is back.
    if (job->attempt && job->is_attempt_sent) {
        ask_center_to_stop(transaction, id, *job, cause);
        return;
    }
    const EndedJob ended = stop_without_center(transaction, id, *job, cause, database_now(transaction));
    JobChanges changes;
    if (!end_job(transaction, ended, job->attempt, Json::object(), changes)) return;
    if (metrics_ != nullptr) count_ended_job(*metrics_, ended.state, job->label);
    record_job_changes(transaction, changes);
}

} // namespace fathom::server
