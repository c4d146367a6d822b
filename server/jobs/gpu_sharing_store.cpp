#include "server/jobs/gpu_sharing_store.hpp"

#include "core/decide/corun/shared_runs.hpp"
#include "server/jobs/gpu_class.hpp"
#include "server/rows/gpu_kind.hpp"
#include "server/store/column.hpp"
#include "server/store/statement.hpp"

#include <pqxx/pqxx>

namespace fathom::server {
namespace {

/// Who has more neighbours, one after another, tells little of each.
constexpr std::int64_t kMaxOthers = 16;
/// Agents look at GPUs every five seconds: in a shorter run a neighbour may not have been seen.
constexpr double kMinSharingRun_s = 10;

// Once the attempt's prediction has what came.
constexpr Statement kSelectRun{"jobs_select_sharing_run", R"sql(
    SELECT j.job_type, j.submitted_by, j.project, coalesce(j.spec -> 'operators', '[]') AS operators,
           a.unit_type_id, a.unit_count, a.run_s, p.actual_run_s, p.raw_prediction_s / p.gpu_slowdown AS raw_prediction_s,
           CASE WHEN p.raw_prediction_s > 0 THEN p.raw_prediction_basis ELSE '' END AS raw_prediction_basis
    FROM attempt a JOIN job j ON j.id = a.job_id JOIN prediction p ON p.attempt_id = a.id
    WHERE a.id = $1 AND p.outcome = 'succeeded' AND p.actual_run_s >= $2 AND a.run_s > 0 AND a.started_at IS NOT NULL
      AND EXISTS (SELECT FROM attempt_gpu k WHERE k.attempt_id = a.id))sql"};

// A job that was there more than once has a row for each of its attempts. One that nobody knows here has nulls.
constexpr Statement kSelectOthers{"jobs_select_sharing_others", R"sql(
    SELECT coalesce(j.steps ->> 'type', j.job_type) AS job_type, j.submitted_by, j.project, coalesce(j.spec -> 'operators', '[]') AS operators,
           extract(epoch FROM b.started_at - a.started_at)::float8 AS from_s,
           extract(epoch FROM coalesce(b.ended_at, a.ended_at) - a.started_at)::float8 AS until_s
    FROM attempt a
         CROSS JOIN (SELECT DISTINCT unnest(neighbours) AS job FROM attempt_gpu WHERE attempt_id = $1) n
         LEFT JOIN attempt b ON b.job_id = n.job AND b.center_id = a.center_id AND b.started_at < a.ended_at
                                AND coalesce(b.ended_at, a.ended_at) > a.started_at
         LEFT JOIN job j ON j.id = b.job_id
    WHERE a.id = $1 LIMIT $2)sql"};

// Rows that another transaction removes at the same time are left to it.
constexpr Statement kDeleteOlder{"jobs_delete_older_sharing_runs", R"sql(
    DELETE FROM gpu_sharing_run WHERE id IN (
        SELECT id FROM gpu_sharing_run
        WHERE kind = $1 AND beside = $2 AND unit_type_id = $3 AND unit_count = $4 AND raw_prediction_basis = $5
        ORDER BY id DESC OFFSET $6 FOR UPDATE SKIP LOCKED))sql"};
constexpr Statement kInsertRun{"jobs_insert_sharing_run", R"sql(
    INSERT INTO gpu_sharing_run (kind, kind_class, beside, beside_class, unit_type_id, unit_count,
                                 raw_prediction_basis, pace, together_share)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) RETURNING id)sql"};
constexpr Statement kDeleteOldest{"jobs_delete_oldest_sharing_runs", R"sql(
    DELETE FROM gpu_sharing_run WHERE id IN (
        SELECT id FROM gpu_sharing_run WHERE id <= $1 FOR UPDATE SKIP LOCKED))sql"};

struct JobKind {
    std::string name; ///< empty: nothing is known of it
    KernelClass kernel_class{KernelClass::kUnknown};
};

/// @param row  null where nobody knows the job.
JobKind job_kind_of(const pqxx::row& row, const CatalogSnapshot& catalog)
{
    if (row["job_type"].is_null()) return {};
    std::vector<FieldError> errors;
    std::vector<OperatorUse> operators;
    for (const Json& item : to_json_value(row["operators"]))
        operators.push_back(parse_operator_use(item, "operators", errors));
    JobKind kind;
    if (errors.empty()) kind.kernel_class = gpu_class_of(operators, catalog);
    kind.name =
        gpu_kind_of(row["job_type"].c_str(), {row["submitted_by"].c_str(), row["project"].c_str()}, kind.kernel_class);
    return kind;
}

/// Adds who else was there to the run. False: no pair can be told of it.
bool add_others(pqxx::work& transaction, const AttemptId& attempt, double run_s, const CatalogSnapshot& catalog,
                SharedRun& run)
{
    const pqxx::result rows = exec(transaction, kSelectOthers, attempt.value, kMaxOthers + 1);
    if (std::ssize(rows) > kMaxOthers) return false;
    std::vector<TogetherSpan> spans;
    for (const pqxx::row& row : rows) {
        const JobKind other = job_kind_of(row, catalog);
        if (other.name.empty() || (!run.beside.empty() && run.beside != other.name)) return false;
        run.beside = other.name;
        run.beside_class = other.kernel_class;
        spans.push_back({row["from_s"].as<double>(), row["until_s"].as<double>()});
    }
    if (spans.empty()) return true;
    const std::optional<double> together = share_together(std::move(spans), run_s);
    if (!together || *together < kMinTogetherShare) return false;
    run.together_share = *together;
    return true;
}

} // namespace

void keep_gpu_sharing(pqxx::work& transaction, const AttemptId& attempt, const CatalogSnapshot& catalog)
{
    const pqxx::result rows = exec(transaction, kSelectRun, attempt.value, kMinSharingRun_s);
    if (rows.empty()) return;
    const pqxx::row row = rows[0];
    const JobKind own = job_kind_of(row, catalog);
    if (own.name.empty()) return;
    const auto raw_s = row["raw_prediction_s"].as<double>();
    // Jobs that have nothing in common but their class can only be compared with the raw prediction of each.
    if (raw_s <= 0 && row["job_type"].as<std::string>().empty()) return;
    const auto raw_basis = row["raw_prediction_basis"].as<std::string>();
    SharedRun run{.kind = own.name, .kernel_class = own.kernel_class};
    run.pace = row["actual_run_s"].as<double>() / (raw_s > 0 ? raw_s : 1);
    if (!add_others(transaction, attempt, row["run_s"].as<double>(), catalog, run)) return;
    const auto unit_type = row["unit_type_id"].as<std::string>();
    const auto unit_count = row["unit_count"].as<std::int64_t>();
    exec(transaction, kDeleteOlder, run.kind, run.beside, unit_type, unit_count, raw_basis, kMaxKeptOfPair - 1);
    const pqxx::result made =
        exec(transaction, kInsertRun, run.kind, std::string(to_string(run.kernel_class)), run.beside,
             std::string(to_string(run.beside_class)), unit_type, unit_count, raw_basis, run.pace, run.together_share);
    exec(transaction, kDeleteOldest, made[0][0].as<std::int64_t>() - kMaxKeptSharingRuns);
}

} // namespace fathom::server
