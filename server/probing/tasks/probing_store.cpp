#include "server/probing/tasks/probing_store.hpp"

#include "server/probing/tasks/task_document.hpp"
#include "server/store/column.hpp"
#include "server/store/sql_array.hpp"

#include <pqxx/pqxx>

#include <utility>

namespace fathom::server {
namespace {

constexpr const char* kSelectMeasuredBy = R"sql(
    SELECT DISTINCT unit_type_id FROM probe_run
    WHERE probe_task_id = $1 AND mode = 'strong' AND state = 'succeeded' AND ended_at > now() - $2 * interval '1 second')sql";

constexpr const char* kInsertRun = R"sql(
    INSERT INTO probe_run (id, probe_task_id, center_id, unit_type_id, unit_count, selection, cause, job_id, created_by,
                           document, order_id, count_by, able_unit_types, repeats_run_id, divides_run_id, mode)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10::jsonb, $11, $12, $13::text[], nullif($14, ''),
            nullif($15, ''), $16))sql";

// What it really has, or had, is its newest attempt's to say: a center may choose type and count (M13d, M14). Its start
// is by the center's clock, which may be behind ours.
#define FATHOM_RUN_OF_ATTEMPT                                                                                          \
    "c.name AS center, coalesce(au.name, u.name) AS unit_type, to_jsonb(r.able_unit_types) AS able, "                  \
    "to_jsonb(a.units) AS units, to_jsonb(a.cpus) AS cpus, "                                                           \
    "CASE WHEN a.started_at IS NOT NULL "                                                                              \
    "THEN greatest(extract(epoch FROM a.started_at - r.created_at), 0)::float8 END AS queue_wait_s, "                  \
    "CASE WHEN r.unit_count = 0 AND a.started_at IS NOT NULL THEN a.unit_count ELSE r.unit_count END AS units_used "

constexpr const char* kSelectRun = "SELECT r.*, " FATHOM_RUN_OF_ATTEMPT R"sql(
    FROM probe_run r JOIN center c ON c.id = r.center_id JOIN unit_type u ON u.id = r.unit_type_id
    LEFT JOIN LATERAL (SELECT * FROM attempt WHERE attempt.job_id = r.job_id ORDER BY epoch DESC LIMIT 1) a ON true
    LEFT JOIN unit_type au ON au.id = a.unit_type_id
    WHERE r.id = $1)sql";

// Results are large, so a list does not read them.
#define FATHOM_LISTED_RUNS                                                                                             \
    "SELECT r.id, r.probe_task_id, r.center_id, r.unit_type_id, r.unit_count, r.selection, r.cause, r.job_id, "        \
    "r.state, r.error, r.created_at, r.created_by, r.ended_at, r.order_id, r.count_by, r.mode, r.repeats_run_id, "     \
    "r.divides_run_id, r.verification, r.verification_detail, r.busy_cores, NULL::jsonb AS document, "                 \
    "NULL::jsonb AS result, " FATHOM_RUN_OF_ATTEMPT                                                                    \
    "FROM probe_run r JOIN center c ON c.id = r.center_id JOIN unit_type u ON u.id = r.unit_type_id "                  \
    "LEFT JOIN LATERAL (SELECT * FROM attempt WHERE attempt.job_id = r.job_id ORDER BY epoch DESC LIMIT 1) a ON true " \
    "LEFT JOIN unit_type au ON au.id = a.unit_type_id "

constexpr const char* kSelectRuns = FATHOM_LISTED_RUNS R"sql(
    WHERE ($1 = '' OR r.state = $1) AND ($2 = '' OR r.unit_type_id = $2 OR c.name || '/' || u.name = $2)
      AND ($3 = '' OR r.probe_task_id = $3) AND ($4 = '' OR r.id < $4) AND ($6 = '' OR r.order_id = $6)
    ORDER BY r.id DESC LIMIT $5)sql";

constexpr const char* kSelectTheseRuns = FATHOM_LISTED_RUNS "WHERE r.id = ANY ($1::text[]) ORDER BY r.id";

constexpr const char* kFindQueuedRun = R"sql(
    SELECT id FROM probe_run WHERE probe_task_id = $1 AND unit_type_id = $2 AND unit_count = $3 AND mode = $4
      AND state = 'queued')sql";

constexpr const char* kHasQueuedRun = R"sql(
    SELECT 1 FROM probe_run r JOIN probe_task t ON t.id = r.probe_task_id
    WHERE t.job_type = $1 AND r.state = 'queued' LIMIT 1)sql";

constexpr const char* kIsRunLost = R"sql(
    SELECT 1 FROM probe_run r JOIN job j ON j.id = r.job_id WHERE r.id = $1 AND j.state = 'lost')sql";

// The newest attempt, because a center that chooses (M13d) may have taken another unit type. The task is locked too:
// somebody may be making this very run its pre-test.
constexpr const char* kLockRunOfJob = R"sql(
    SELECT r.id, r.state, r.order_id, r.mode, r.repeats_run_id IS NOT NULL AS is_repeat,
           CASE WHEN r.unit_count = 0 THEN coalesce(a.unit_count, 1) ELSE r.unit_count END AS unit_count, coalesce(r.document, t.document) AS document, t.document AS asked,
           j.state AS job_state, r.probe_task_id,
           t.state = 'testing' AND t.pretest_run_id = r.id AS is_pretest,
           coalesce(a.unit_type_id, r.unit_type_id) AS unit_type_id, coalesce(a.center_id, r.center_id) AS center_id
    FROM probe_run r JOIN probe_task t ON t.id = r.probe_task_id JOIN job j ON j.id = r.job_id
    LEFT JOIN LATERAL (SELECT unit_type_id, center_id, unit_count FROM attempt WHERE attempt.job_id = r.job_id
                       ORDER BY epoch DESC LIMIT 1) a ON true
    WHERE r.job_id = $1 FOR UPDATE OF r, t)sql";

constexpr const char* kUpdateAble = R"sql(
    UPDATE probe_run SET able_unit_types = $2::text[] WHERE job_id = $1 AND state = 'queued')sql";

constexpr const char* kEndRun =
    "UPDATE probe_run SET state = $2, error = $3, ended_at = now() WHERE id = $1 AND state = 'queued'";

ScalingMode to_mode(const pqxx::field& field)
{
    return field.as<std::string>() == to_string(ScalingMode::kThroughput) ? ScalingMode::kThroughput
                                                                          : ScalingMode::kStrong;
}

ProbeRunRecord to_run(const pqxx::row& row)
{
    return {.id = {row["id"].as<std::string>()},
            .probe_task_id = {row["probe_task_id"].as<std::string>()},
            .center_id = {row["center_id"].as<std::string>()},
            .center = row["center"].as<std::string>(),
            .unit_type_id = {row["unit_type_id"].as<std::string>()},
            .unit_type = row["unit_type"].as<std::string>(),
            .unit_count = row["units_used"].as<std::int64_t>(),
            .mode = to_mode(row["mode"]),
            .selection = row["selection"].as<std::string>(),
            .count_by = row["count_by"].as<std::string>(),
            .cause = row["cause"].as<std::string>(),
            .job_id = {row["job_id"].as<std::string>()},
            .state = row["state"].as<std::string>(),
            .error = row["error"].as<std::string>(),
            .created_at = to_timestamp(row["created_at"]),
            .created_by = row["created_by"].as<std::string>(),
            .ended_at = to_optional_timestamp(row["ended_at"]),
            .queue_wait_s = optional_of<double>(row["queue_wait_s"]),
            .order_id = row["order_id"].as<std::string>(),
            .repeats_run_id = row["repeats_run_id"].as<std::string>(""),
            .divides_run_id = row["divides_run_id"].as<std::string>(""),
            .able_unit_types = to_json_value(row["able"]),
            .units = to_json_value(row["units"]),
            .cpus = to_json_value(row["cpus"]),
            .verification = row["verification"].as<std::string>(),
            .verification_detail = row["verification_detail"].as<std::string>(),
            .busy_cores = optional_of<double>(row["busy_cores"]),
            .document = to_json_value(row["document"]),
            .result = to_json_value(row["result"])};
}

} // namespace

void insert_run(pqxx::transaction_base& transaction, const NewProbeRun& run)
{
    transaction.exec_params(kInsertRun, run.id.value, run.probe_task_id.value, run.center_id.value,
                            run.unit_type_id.value, run.unit_count, run.selection, run.cause, run.job_id.value,
                            run.created_by, fathom::to_json(run.document).dump(), run.order_id, run.count_by,
                            sql_array(run.able_unit_types), run.repeats_run_id, run.divides_run_id,
                            std::string(to_string(run.mode)));
}

std::optional<ProbeRunRecord> select_run(pqxx::transaction_base& transaction, const std::string& id)
{
    const pqxx::result rows = transaction.exec_params(kSelectRun, id);
    if (rows.empty()) return std::nullopt;
    return to_run(rows[0]);
}

std::optional<ProbeRunId> find_queued_run(pqxx::transaction_base& transaction, const ProbeTaskId& task,
                                          const UnitTypeId& unit_type, std::int64_t unit_count, ScalingMode mode)
{
    const pqxx::result rows =
        transaction.exec_params(kFindQueuedRun, task.value, unit_type.value, unit_count, std::string(to_string(mode)));
    if (rows.empty()) return std::nullopt;
    return ProbeRunId{rows[0][0].as<std::string>()};
}

Page<ProbeRunRecord> select_runs(pqxx::transaction_base& transaction, const RunFilter& filter, std::int64_t size,
                                 const std::string& after)
{
    std::vector<ProbeRunRecord> runs;
    for (const pqxx::row& row : transaction.exec_params(kSelectRuns, filter.state, filter.unit_type, filter.probe_task,
                                                        after, size + 1, filter.order))
        runs.push_back(to_run(row));
    return cut_page(std::move(runs), size, [](const ProbeRunRecord& run) { return run.id.value; });
}

std::vector<ProbeRunRecord> select_these_runs(pqxx::transaction_base& transaction, const std::vector<std::string>& ids)
{
    std::vector<ProbeRunRecord> runs;
    for (const pqxx::row& row : transaction.exec_params(kSelectTheseRuns, sql_array(ids)))
        runs.push_back(to_run(row));
    return runs;
}

bool is_run_lost(pqxx::transaction_base& transaction, const ProbeRunId& run)
{
    return !transaction.exec_params(kIsRunLost, run.value).empty();
}

bool has_queued_run(pqxx::transaction_base& transaction, const std::string& job_type)
{
    return !transaction.exec_params(kHasQueuedRun, job_type).empty();
}

std::optional<EndingRun> lock_run_of_job(pqxx::transaction_base& transaction, const JobId& job)
{
    const pqxx::result rows = transaction.exec_params(kLockRunOfJob, job.value);
    if (rows.empty()) return std::nullopt;
    const pqxx::row row = rows[0];
    return EndingRun{.id = {row["id"].as<std::string>()},
                     .probe_task_id = {row["probe_task_id"].as<std::string>()},
                     .is_pretest = row["is_pretest"].as<bool>(false),
                     .queued = row["state"].as<std::string>() == "queued",
                     .state = row["state"].as<std::string>(),
                     .job_id = job,
                     .order_id = row["order_id"].as<std::string>(),
                     .is_repeat = row["is_repeat"].as<bool>(),
                     .unit_count = row["unit_count"].as<std::int64_t>(),
                     .mode = to_mode(row["mode"]),
                     .unit_type_id = {row["unit_type_id"].as<std::string>()},
                     .center_id = {row["center_id"].as<std::string>()},
                     .job_cancelled = row["job_state"].as<std::string>() == "cancelled",
                     .task = read_task_document(row["probe_task_id"].as<std::string>(), row["document"]),
                     .asked = read_task_document(row["probe_task_id"].as<std::string>(), row["asked"])};
}

void update_able_unit_types(pqxx::transaction_base& transaction, const JobId& job,
                            const std::vector<std::string>& names)
{
    transaction.exec_params0(kUpdateAble, job.value, sql_array(names));
}

std::set<std::string> select_measured_by(pqxx::transaction_base& transaction, const ProbeTaskId& task,
                                         std::chrono::seconds age)
{
    std::set<std::string> unit_types;
    for (const pqxx::row& row : transaction.exec_params(kSelectMeasuredBy, task.value, age.count()))
        unit_types.insert(row[0].as<std::string>());
    return unit_types;
}

void end_run(pqxx::transaction_base& transaction, const ProbeRunId& id, const std::string& state,
             const std::string& error)
{
    transaction.exec_params(kEndRun, id.value, state, error);
}

Json to_json(const ProbeRunRecord& run)
{
    return {{"id", run.id.value},
            {"probe_task_id", run.probe_task_id.value},
            {"center_id", run.center_id.value},
            {"center", run.center},
            {"unit_type_id", run.unit_type_id.value},
            {"unit_type", run.unit_type},
            {"unit_count", run.unit_count},
            {"mode", to_string(run.mode)},
            {"units", run.units},
            {"cpus", run.cpus},
            {"selection", run.selection},
            {"count_by", run.count_by},
            {"able_unit_types", run.able_unit_types},
            {"cause", run.cause},
            {"job_id", run.job_id.value},
            {"state", run.state},
            {"error", text_or_null(run.error)},
            {"created_at", format_rfc3339(run.created_at)},
            {"created_by", run.created_by},
            {"ended_at", time_json(run.ended_at)},
            {"queue_wait_s", run.queue_wait_s ? Json(*run.queue_wait_s) : Json()},
            {"order_id", text_or_null(run.order_id)},
            {"repeats_run_id", text_or_null(run.repeats_run_id)},
            {"divides_run_id", text_or_null(run.divides_run_id)},
            {"verification", run.verification},
            {"verification_detail", text_or_null(run.verification_detail)},
            {"busy_cores", run.busy_cores ? Json(*run.busy_cores) : Json()},
            {"document", run.document},
            {"result", run.result}};
}

} // namespace fathom::server
