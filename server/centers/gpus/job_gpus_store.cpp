#include "server/centers/gpus/job_gpus_store.hpp"

#include "server/centers/gpus/place_key.hpp"
#include "server/store/column.hpp"
#include "server/store/sql_array.hpp"

#include <pqxx/pqxx>

namespace fathom::server {
namespace {

// New GPUs count first, so that those which are kept leave no more room than there is. Programs that have ended keep
// their last figures until there are too many.
constexpr const char* kKeepGpus = R"sql(
    WITH told AS (
        SELECT DISTINCT ON (g->>'gpu') g->>'gpu' AS gpu, g FROM jsonb_array_elements($2::jsonb) g),
    own AS (
        SELECT a.id AS attempt_id, a.job_id, t.gpu, t.g, k.gpu IS NOT NULL AS is_kept,
               row_number() OVER (PARTITION BY a.id ORDER BY k.gpu IS NOT NULL, t.gpu) AS number
        FROM told t
             CROSS JOIN LATERAL (SELECT DISTINCT p->>'job' AS job FROM jsonb_array_elements(t.g->'jobs') p) named
             JOIN attempt a ON a.job_id = named.job AND a.center_id = $1 AND a.state <> 'ended'
             LEFT JOIN attempt_gpu k ON k.attempt_id = a.id AND k.gpu = t.gpu)
    INSERT INTO attempt_gpu (attempt_id, gpu, capacity_bytes, programs, neighbours)
    SELECT o.attempt_id, o.gpu, (o.g->>'capacity_bytes')::bigint,
           (SELECT jsonb_object_agg(p->>'process', p) FROM jsonb_array_elements(o.g->'jobs') p
            WHERE p->>'job' = o.job_id),
           ARRAY(SELECT DISTINCT p->>'job' FROM jsonb_array_elements(o.g->'jobs') p WHERE p->>'job' <> o.job_id)
    FROM own o
    WHERE o.is_kept OR o.number <= $3 - (SELECT count(*) FROM attempt_gpu k WHERE k.attempt_id = o.attempt_id)
    ON CONFLICT (attempt_id, gpu) DO UPDATE SET
        capacity_bytes = excluded.capacity_bytes,
        programs = CASE WHEN (SELECT count(*) FROM jsonb_object_keys(attempt_gpu.programs || excluded.programs)) <= $4
                        THEN attempt_gpu.programs || excluded.programs ELSE excluded.programs END,
        neighbours = ARRAY(SELECT DISTINCT n FROM unnest(attempt_gpu.neighbours || excluded.neighbours) n
                           ORDER BY n LIMIT $4),
        last_told_at = now()
    WHERE NOT (attempt_gpu.programs @> excluded.programs AND attempt_gpu.neighbours @> excluded.neighbours))sql";

constexpr const char* kSelectJob =
    "SELECT id, label, submitted_by, project FROM job WHERE id = $1 AND " FATHOM_IN_JOB_SCOPE("job", "$2", "$3");

// What programs say of their job is their word: a neighbour is named to whom may read its job at this center only.
constexpr const char* kSelectGpus = R"sql(
    SELECT k.attempt_id, c.name AS center, c.id AS center_id, k.gpu, k.capacity_bytes, k.first_told_at, k.last_told_at,
           (SELECT coalesce(jsonb_agg(p.value ORDER BY p.key), '[]') FROM jsonb_each(k.programs) p) AS programs,
           to_jsonb(ARRAY(
               SELECT n FROM unnest(k.neighbours) n
               WHERE n <> '' AND ($4 = '' OR EXISTS (
                   SELECT FROM job j JOIN attempt b ON b.job_id = j.id
                   WHERE j.id = n AND b.center_id = a.center_id AND )sql" FATHOM_IN_JOB_SCOPE("j", "$4", "$5") R"sql())
               ORDER BY n)) AS named,
           cardinality(k.neighbours) AS neighbour_count
    FROM attempt a JOIN attempt_gpu k ON k.attempt_id = a.id JOIN center c ON c.id = a.center_id
    WHERE a.job_id = $1 AND (k.attempt_id, k.gpu) > ($2, $3) ORDER BY k.attempt_id, k.gpu LIMIT $6)sql";

JobGpuRecord record_of(const pqxx::row& row)
{
    JobGpuRecord record{.attempt_id = {row["attempt_id"].as<std::string>()},
                        .center = row["center"].as<std::string>(),
                        .center_id = {row["center_id"].as<std::string>()},
                        .gpu = row["gpu"].as<std::string>(),
                        .capacity_bytes = row["capacity_bytes"].as<std::int64_t>(),
                        .first_told_at = to_timestamp(row["first_told_at"]),
                        .last_told_at = to_timestamp(row["last_told_at"]),
                        .programs = to_json_value(row["programs"]),
                        .neighbours = to_json_value(row["named"]).get<std::vector<std::string>>()};
    record.other_count = row["neighbour_count"].as<std::int64_t>() - std::ssize(record.neighbours);
    return record;
}

} // namespace

void keep_gpus_of_attempts(pqxx::transaction_base& transaction, const CenterId& center, const GpuMemoryReport& report)
{
    transaction.exec_params0(kKeepGpus, center.value, to_json(report).at("gpus").dump(), kMaxGpusOfAttempt,
                             kMaxKeptOfGpu);
}

std::optional<LookedAtJob> select_job_with_gpus(pqxx::transaction_base& transaction, const std::string& job,
                                                const JobScope& scope)
{
    const pqxx::result rows = transaction.exec_params(kSelectJob, job, scope.owner, sql_array(scope.projects));
    if (rows.empty()) return std::nullopt;
    const pqxx::row row = rows[0];
    return LookedAtJob{row["id"].as<std::string>(), row["label"].as<std::string>(),
                       row["submitted_by"].as<std::string>(), row["project"].as<std::string>()};
}

Page<JobGpuRecord> select_job_gpus(pqxx::transaction_base& transaction, const std::string& job, const JobScope& scope,
                                   std::int64_t size, const std::string& after)
{
    const PlaceKey key = place_key(after); // an attempt's id holds no slash, either
    std::vector<JobGpuRecord> gpus;
    for (const pqxx::row& row : transaction.exec_params(kSelectGpus, job, key.center, key.name, scope.owner,
                                                        sql_array(scope.projects), size + 1))
        gpus.push_back(record_of(row));
    for (JobGpuRecord& record : gpus)
        record.pairs = select_gpu_pairs_of_job(transaction, record.center_id, job, record.neighbours);
    return cut_page(std::move(gpus), size,
                    [](const JobGpuRecord& one) { return to_text({one.attempt_id.value, one.gpu}); });
}

Json to_json(const JobGpuRecord& record)
{
    Json pairs = Json::array();
    for (const PairOfJob& pair : record.pairs)
        pairs.push_back(to_json(pair));
    return {{"attempt_id", record.attempt_id.value},
            {"center", record.center},
            {"center_id", record.center_id.value},
            {"gpu", record.gpu},
            {"capacity_bytes", record.capacity_bytes},
            {"first_told_at", format_rfc3339(record.first_told_at)},
            {"last_told_at", format_rfc3339(record.last_told_at)},
            {"programs", record.programs},
            {"neighbours", record.neighbours},
            {"other_count", record.other_count},
            {"pairs", std::move(pairs)}};
}

} // namespace fathom::server
