#include "server/jobs/probe_job_writer.hpp"

#include "server/jobs/jobs_store.hpp"

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

} // namespace fathom::server
