#include "server/jobs/job_looks.hpp"

#include "server/identity/audit.hpp"
#include "server/identity/job_scope.hpp"

#include <algorithm>

namespace fathom::server {
namespace {

bool is_seen_by_role_alone(const Principal& reader, const JobRecord& job)
{
    return job.label == "job" && sees_by_role_alone(reader, job.submitted_by, job.project);
}

} // namespace

bool record_list(pqxx::transaction_base& transaction, const JobReader& reader, const std::vector<JobRecord>& jobs)
{
    const bool has_others = std::any_of(
        jobs.begin(), jobs.end(), [&](const JobRecord& job) { return is_seen_by_role_alone(reader.principal, job); });
    if (has_others) audit(transaction, reader.principal.token_id.value, "job.list", "jobs", reader.request_id);
    return has_others;
}

void record_look(pqxx::transaction_base& transaction, const JobReader& reader, const JobRecord& job, JobContent content)
{
    record_job_look(transaction, reader, content == JobContent::kOutput ? "job.read_output" : "job.read",
                    {job.id.value, job.label, job.submitted_by, job.project});
}

} // namespace fathom::server
