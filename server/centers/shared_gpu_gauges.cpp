#include "server/centers/shared_gpu_gauges.hpp"

#include <pqxx/pqxx>

namespace fathom::server {
namespace {

// A center that has none left has zeros: its gauges would else stay as they were.
constexpr const char* kSumByCenter = R"sql(
    SELECT c.name AS center, coalesce(sum((g.report->>'capacity_bytes')::bigint), 0)::float8 AS capacity,
           coalesce(sum((g.report->>'persistent_bytes')::bigint), 0)::float8 AS persistent,
           coalesce(sum((g.report->>'temporary_bytes')::bigint), 0)::float8 AS temporary,
           coalesce(sum((g.report->>'free_bytes')::bigint), 0)::float8 AS free,
           coalesce(sum((g.report->>'job_count')::bigint), 0)::float8 AS programs,
           coalesce(sum((g.report->>'refused_count')::bigint), 0)::float8 AS refused
    FROM center c LEFT JOIN shared_gpu g ON g.center_id = c.id
    WHERE c.revoked_at IS NULL AND EXISTS (SELECT FROM unit_type u WHERE u.center_id = c.id AND u.resource_type <> 'cpu')
    GROUP BY c.name)sql";

} // namespace

void set_shared_gpu_gauges(pqxx::transaction_base& transaction, Metrics& metrics)
{
    for (const pqxx::row& row : transaction.exec(kSumByCenter)) {
        const auto center = row["center"].as<std::string>();
        for (const char* kind : {"capacity", "persistent", "temporary", "free"})
            metrics.set("fathom_shared_gpu_memory_bytes",
                        "Memory of GPUs that jobs share: all, taken by kind, and free.", row[kind].as<double>(),
                        {{"center", center}, {"kind", kind}});
        metrics.set("fathom_shared_gpu_programs", "Programs that have memory on GPUs that jobs share.",
                    row["programs"].as<double>(), {{"center", center}});
        metrics.set("fathom_shared_gpu_refused_programs",
                    "Programs that did not fit on a GPU since the center's agent started.", row["refused"].as<double>(),
                    {{"center", center}});
    }
}

} // namespace fathom::server
