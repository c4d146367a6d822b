#include "server/identity/job_look.hpp"

#include "server/identity/audit.hpp"
#include "server/identity/job_scope.hpp"

namespace fathom::server {

void record_job_look(pqxx::transaction_base& transaction, const JobReader& reader, std::string_view action,
                     const LookedAtJob& job)
{
    if (job.label != "job" || !sees_by_role_alone(reader.principal, job.submitted_by, job.project)) return;
    audit_once_an_hour(transaction, reader.principal.token_id.value, action, job.id, reader.request_id,
                       {{"submitted_by", job.submitted_by}});
}

} // namespace fathom::server
