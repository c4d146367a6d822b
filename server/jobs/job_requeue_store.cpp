#include "server/jobs/job_requeue_store.hpp"

#include "server/store/column.hpp"

#include <pqxx/pqxx>

namespace fathom::server {
namespace {

constexpr const char* kAddRefusedCenter = R"sql(
    UPDATE job j SET refused_centers = array_append(j.refused_centers, a.center_id)
    FROM attempt a WHERE a.id = $1 AND j.id = a.job_id
    RETURNING j.spec::text AS spec, to_jsonb(j.refused_centers) AS centers)sql";

constexpr const char* kUpdateJobRequeued = R"sql(
    UPDATE job SET state = 'queued', version = version + 1, waiting_reason = '',
        started_at = CASE WHEN (steps ->> 'part')::integer > 0 THEN started_at END,
        state_changed_at = greatest(clock_timestamp(), state_changed_at)
    WHERE id = $1)sql";

} // namespace

RefusedJob add_refused_center(pqxx::work& transaction, const AttemptId& attempt)
{
    const pqxx::row row = transaction.exec_params1(kAddRefusedCenter, attempt.value);
    return {row["spec"].as<std::string>(), to_json_value(row["centers"]).get<std::vector<std::string>>()};
}

void update_job_requeued(pqxx::work& transaction, const JobId& job)
{
    transaction.exec_params0(kUpdateJobRequeued, job.value);
}

} // namespace fathom::server
