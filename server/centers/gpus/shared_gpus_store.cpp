#include "server/centers/gpus/shared_gpus_store.hpp"

#include "server/centers/gpus/place_key.hpp"
#include "server/store/column.hpp"
#include "server/store/sql_array.hpp"

#include <pqxx/pqxx>

namespace fathom::server {
namespace {

// What a job may have at most.
constexpr const char* kSelectLimits = R"sql(
    SELECT coalesce(jsonb_object_agg(gpu, jsonb_build_array(report->'capacity_bytes', report->'gap_bytes')), '{}')
    FROM shared_gpu WHERE center_id = $1)sql";

constexpr const char* kDropGone = R"sql(
    DELETE FROM shared_gpu WHERE center_id = $1 AND gpu NOT IN (
        SELECT g->>'gpu' FROM jsonb_array_elements($2::jsonb) g))sql";

constexpr const char* kInsertReport = R"sql(
    INSERT INTO shared_gpu (center_id, gpu, report)
    SELECT DISTINCT ON (g->>'gpu') $1, g->>'gpu', g FROM jsonb_array_elements($2::jsonb) g
    ON CONFLICT (center_id, gpu) DO UPDATE SET report = excluded.report, reported_at = now()
    WHERE shared_gpu.report <> excluded.report)sql";

// What programs say of their job is their word: it names a job of the caller's only when that job is at this center.
constexpr const char* kSelectSharedGpus = R"sql(
    SELECT c.name AS center, c.id AS center_id, g.gpu, g.reported_at,
           CASE WHEN $4 = '' THEN g.report
                ELSE jsonb_set(g.report, '{jobs}', coalesce((
                    SELECT jsonb_agg(p) FROM jsonb_array_elements(g.report->'jobs') p
                    WHERE EXISTS (SELECT FROM job j JOIN attempt a ON a.job_id = j.id
                                  WHERE j.id = p->>'job' AND a.center_id = g.center_id AND )sql" FATHOM_IN_JOB_SCOPE(
    "j", "$4", "$7") R"sql()), '[]'))
           END AS report
    FROM shared_gpu g JOIN center c ON c.id = g.center_id
    WHERE c.revoked_at IS NULL AND ($1 = '' OR c.id = $1 OR c.name = $1) AND (c.name, g.gpu) > ($2, $3)
      AND ($6 = '' OR g.report->'jobs' @> jsonb_build_array(jsonb_build_object('job', $6::text)))
    ORDER BY c.name, g.gpu LIMIT $5)sql";

} // namespace

bool replace_shared_gpus(pqxx::transaction_base& transaction, const CenterId& center, const GpuMemoryReport& report)
{
    const auto limits = [&] { return transaction.exec_params1(kSelectLimits, center.value)[0].as<std::string>(); };
    const std::string before = limits();
    const std::string gpus = to_json(report).at("gpus").dump();
    transaction.exec_params0(kDropGone, center.value, gpus);
    transaction.exec_params0(kInsertReport, center.value, gpus);
    return limits() != before;
}

Page<SharedGpuRecord> select_shared_gpus(pqxx::transaction_base& transaction, const SharedGpuFilter& filter,
                                         std::int64_t size, const std::string& after)
{
    const PlaceKey key = place_key(after);
    std::vector<SharedGpuRecord> gpus;
    for (const pqxx::row& row :
         transaction.exec_params(kSelectSharedGpus, filter.center, key.center, key.name, filter.scope.owner, size + 1,
                                 filter.job, sql_array(filter.scope.projects)))
        gpus.push_back({.center = row["center"].as<std::string>(),
                        .center_id = {row["center_id"].as<std::string>()},
                        .reported_at = to_timestamp(row["reported_at"]),
                        .report = to_json_value(row["report"])});
    return cut_page(std::move(gpus), size, [](const SharedGpuRecord& one) {
        return to_text({one.center, one.report.at("gpu").get<std::string>()});
    });
}

Json to_json(const SharedGpuRecord& record)
{
    Json json = record.report;
    json["center"] = record.center;
    json["center_id"] = record.center_id.value;
    json["reported_at"] = format_rfc3339(record.reported_at);
    return json;
}

} // namespace fathom::server
