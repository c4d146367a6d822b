#include "server/jobs/gpu_need_store.hpp"

#include "server/rows/gpu_kind.hpp"
#include "server/store/statement.hpp"

namespace fathom::server {
namespace {

constexpr Statement kSelectEnded{"jobs_select_ended_of_need", R"sql(
    SELECT j.job_type, j.submitted_by, j.project
    FROM attempt a JOIN job j ON j.id = a.job_id JOIN prediction p ON p.attempt_id = a.id
    WHERE a.id = $1 AND p.outcome = 'succeeded' AND j.job_type <> '')sql"};

// Processes may have come one after another: all together never had more than there is.
constexpr Statement kInsertNeed{"jobs_insert_gpu_need", R"sql(
    INSERT INTO gpu_memory_run (kind, persistent_bytes, temporary_bytes)
    SELECT $2, max(g.persistent_bytes), max(g.temporary_bytes)
    FROM (SELECT least(sum((p.value #>> '{persistent,peak_bytes}')::bigint), max(k.capacity_bytes))::bigint
                     AS persistent_bytes,
                 max((p.value #>> '{temporary,peak_bytes}')::bigint) AS temporary_bytes
          FROM attempt_gpu k CROSS JOIN LATERAL jsonb_each(k.programs) p
          WHERE k.attempt_id = $1 GROUP BY k.gpu) g
    HAVING max(g.persistent_bytes) + max(g.temporary_bytes) > 0
    RETURNING id)sql"};

// Rows that another transaction removes at the same time are left to it.
constexpr Statement kDeleteOlderNeeds{"jobs_delete_older_gpu_needs", R"sql(
    DELETE FROM gpu_memory_run WHERE id IN (
        SELECT id FROM gpu_memory_run WHERE kind = $1 ORDER BY id DESC OFFSET $2 FOR UPDATE SKIP LOCKED))sql"};
constexpr Statement kDeleteOldestNeeds{"jobs_delete_oldest_gpu_needs", R"sql(
    DELETE FROM gpu_memory_run WHERE id IN (
        SELECT id FROM gpu_memory_run WHERE id <= $1 FOR UPDATE SKIP LOCKED))sql"};

} // namespace

void keep_gpu_need(pqxx::work& transaction, const AttemptId& attempt)
{
    const pqxx::result rows = exec(transaction, kSelectEnded, attempt.value);
    if (rows.empty()) return;
    const pqxx::row row = rows[0];
    const std::string kind = gpu_kind_of(row["job_type"].c_str(), {row["submitted_by"].c_str(), row["project"].c_str()},
                                         KernelClass::kUnknown);
    const pqxx::result made = exec(transaction, kInsertNeed, attempt.value, kind);
    if (made.empty()) return;
    exec(transaction, kDeleteOlderNeeds, kind, kMaxNeedRunsOfKind);
    exec(transaction, kDeleteOldestNeeds, made[0][0].as<std::int64_t>() - kMaxNeedRuns);
}

} // namespace fathom::server
