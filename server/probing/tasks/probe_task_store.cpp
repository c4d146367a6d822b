#include "server/probing/tasks/probe_task_store.hpp"

#include "core/base/secret.hpp"
#include "server/probing/tasks/task_document.hpp"
#include "server/store/column.hpp"
#include "server/store/sql_array.hpp"

#include <pqxx/pqxx>

#include <array>
#include <utility>

namespace fathom::server {
namespace {

constexpr std::array<std::pair<ProbeTaskState, std::string_view>, 6> kStateNames{{
    {ProbeTaskState::kDraft, "draft"},
    {ProbeTaskState::kTesting, "testing"},
    {ProbeTaskState::kTested, "tested"},
    {ProbeTaskState::kReleased, "released"},
    {ProbeTaskState::kRefused, "refused"},
    {ProbeTaskState::kRetired, "retired"},
}};

// Literals, so that statements are joined by the compiler and stay constants.
#define FATHOM_TASK_COLUMNS                                                                                            \
    "id, name, job_type, origin, document, created_at, created_by, state, state_reason, state_changed_at, version, "   \
    "from_job, coalesce(pretest_run_id, '') AS pretest_run_id, coalesce(scaled_to, '') AS scaled_to, pretest_s, "      \
    "releases_itself, "                                                                                                \
    "to_jsonb(awaited_unit_types) AS awaited_unit_types, awaited_cause "

// DO UPDATE without effect: it locks and returns the row in one statement, whoever made it.
constexpr const char* kFindOrInsertTask =
    "INSERT INTO probe_task (id, name, job_type, origin, document, document_sha256, created_by, state, from_job) "
    "VALUES ($1, $2, $3, $4, $5::jsonb, $6, $7, $8, $9) "
    "ON CONFLICT (job_type, document_sha256) DO UPDATE SET name = probe_task.name RETURNING " FATHOM_TASK_COLUMNS;

constexpr const char* kSelectTask = "SELECT " FATHOM_TASK_COLUMNS "FROM probe_task WHERE id = $1";
constexpr const char* kLockTask = "SELECT " FATHOM_TASK_COLUMNS "FROM probe_task WHERE id = $1 FOR UPDATE";
constexpr const char* kLockReleasedTask =
    "SELECT " FATHOM_TASK_COLUMNS "FROM probe_task WHERE job_type = $1 AND state = 'released' "
    "ORDER BY state_changed_at DESC, id DESC LIMIT 1 FOR UPDATE";
constexpr const char* kSelectLatestTask =
    "SELECT " FATHOM_TASK_COLUMNS "FROM probe_task WHERE job_type = $1 ORDER BY state_changed_at DESC LIMIT 1";
constexpr const char* kSelectTasks =
    "SELECT " FATHOM_TASK_COLUMNS "FROM probe_task WHERE ($1 = '' OR state = $1) AND ($2 = '' OR job_type = $2) "
    "AND ($3 = '' OR id < $3) ORDER BY id DESC LIMIT $4";

constexpr const char* kUpdateTaskState = R"sql(
    UPDATE probe_task SET state = $2, state_reason = $3, pretest_run_id = nullif($4, ''), pretest_s = $5::float8,
        releases_itself = $6::boolean, awaited_unit_types = $7::text[], awaited_cause = $8, scaled_to = nullif($9, ''),
        state_changed_at = CASE WHEN state = $2 THEN state_changed_at ELSE now() END, version = version + 1
    WHERE id = $1 RETURNING version, state_changed_at)sql";

ProbeTaskRecord to_task(const pqxx::row& row)
{
    return {.id = {row["id"].as<std::string>()},
            .name = row["name"].as<std::string>(),
            .job_type = row["job_type"].as<std::string>(),
            .origin = row["origin"].as<std::string>(),
            .document = read_task_document(row["id"].as<std::string>(), row["document"]),
            .created_at = to_timestamp(row["created_at"]),
            .created_by = row["created_by"].as<std::string>(),
            .state = parse_probe_task_state(row["state"].c_str()).value_or(ProbeTaskState::kDraft),
            .state_reason = row["state_reason"].as<std::string>(),
            .state_changed_at = to_timestamp(row["state_changed_at"]),
            .version = row["version"].as<std::int64_t>(),
            .from_job = row["from_job"].as<std::string>(),
            .pretest_run_id = row["pretest_run_id"].as<std::string>(),
            .pretest_s = row["pretest_s"].is_null() ? std::nullopt : std::optional(row["pretest_s"].as<double>()),
            .releases_itself = row["releases_itself"].as<bool>(),
            .awaited_unit_types = to_json_value(row["awaited_unit_types"]).get<std::vector<std::string>>(),
            .awaited_cause = row["awaited_cause"].as<std::string>(),
            .scaled_to = row["scaled_to"].as<std::string>()};
}

std::optional<ProbeTaskRecord> first_task(const pqxx::result& rows)
{
    if (rows.empty()) return std::nullopt;
    return to_task(rows[0]);
}

} // namespace

std::string_view to_string(ProbeTaskState state)
{
    return std::find_if(kStateNames.begin(), kStateNames.end(), [&](const auto& entry) { return entry.first == state; })
        ->second;
}

std::optional<ProbeTaskState> parse_probe_task_state(std::string_view text)
{
    for (const auto& [state, name] : kStateNames) {
        if (name == text) return state;
    }
    return std::nullopt;
}

FoundTask find_or_insert_task(pqxx::transaction_base& transaction, const NewProbeTask& task)
{
    const std::string document = to_json(task.document).dump();
    const ProbeTaskId id = ProbeTaskId::make();
    const pqxx::row row = transaction.exec_params1(kFindOrInsertTask, id.value, task.document.name, task.job_type,
                                                   task.origin, document, sha256_hex(document), task.created_by,
                                                   std::string(to_string(task.state)), task.from_job);
    ProbeTaskRecord record = to_task(row);
    const bool created = record.id == id;
    return {std::move(record), created};
}

std::optional<ProbeTaskRecord> select_task(pqxx::transaction_base& transaction, const std::string& id)
{
    return first_task(transaction.exec_params(kSelectTask, id));
}

std::optional<ProbeTaskRecord> lock_task(pqxx::transaction_base& transaction, const std::string& id)
{
    return first_task(transaction.exec_params(kLockTask, id));
}

std::optional<ProbeTaskRecord> lock_released_task(pqxx::transaction_base& transaction, const std::string& job_type)
{
    return first_task(transaction.exec_params(kLockReleasedTask, job_type));
}

std::optional<ProbeTaskRecord> select_latest_task(pqxx::transaction_base& transaction, const std::string& job_type)
{
    return first_task(transaction.exec_params(kSelectLatestTask, job_type));
}

Page<ProbeTaskRecord> select_tasks(pqxx::transaction_base& transaction, const TaskFilter& filter, std::int64_t size,
                                   const std::string& after)
{
    std::vector<ProbeTaskRecord> tasks;
    for (const pqxx::row& row : transaction.exec_params(kSelectTasks, filter.state, filter.job_type, after, size + 1))
        tasks.push_back(to_task(row));
    return cut_page(std::move(tasks), size, [](const ProbeTaskRecord& task) { return task.id.value; });
}

void update_task_state(pqxx::transaction_base& transaction, ProbeTaskRecord& task)
{
    const std::optional<std::string> pretest_s =
        task.pretest_s ? std::optional(pqxx::to_string(*task.pretest_s)) : std::nullopt;
    const pqxx::row row =
        transaction.exec_params1(kUpdateTaskState, task.id.value, std::string(to_string(task.state)), task.state_reason,
                                 task.pretest_run_id, pretest_s ? pretest_s->c_str() : nullptr, task.releases_itself,
                                 sql_array(task.awaited_unit_types), task.awaited_cause, task.scaled_to);
    task.version = row["version"].as<std::int64_t>();
    task.state_changed_at = to_timestamp(row["state_changed_at"]);
}

Json to_json(const ProbeTaskRecord& task)
{
    return {{"id", task.id.value},
            {"name", task.name},
            {"job_type", text_or_null(task.job_type)},
            {"origin", task.origin},
            {"document", to_json(task.document)},
            {"state", to_string(task.state)},
            {"state_reason", text_or_null(task.state_reason)},
            {"state_changed_at", format_rfc3339(task.state_changed_at)},
            {"version", task.version},
            {"from_job", text_or_null(task.from_job)},
            {"pretest_run_id", text_or_null(task.pretest_run_id)},
            {"pretest_s", task.pretest_s ? Json(*task.pretest_s) : Json()},
            {"created_at", format_rfc3339(task.created_at)},
            {"created_by", task.created_by}};
}

} // namespace fathom::server
