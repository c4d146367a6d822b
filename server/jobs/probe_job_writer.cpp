#include "server/jobs/probe_job_writer.hpp"

#include "server/jobs/jobs_store.hpp"
#include "server/store/notifier.hpp"

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

void JobsProbeJobWriter::stop_probe_job(pqxx::work& transaction, const JobId& id)
{
    const std::optional<LockedJob> job = lock_job(transaction, id);
    if (!job || is_final(job->state) || job->is_cancel_requested) return;
    update_cancel_requested(transaction, id);
    if (job->attempt) notify(transaction, "dispatch", job->center_id.value);
}

} // namespace fathom::server
