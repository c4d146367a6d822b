#include "server/learning/predictions_store.hpp"

#include "server/store/column.hpp"
#include "server/store/sql_array.hpp"
#include "server/store/statement.hpp"

#include <pqxx/pqxx>

namespace fathom::server {
namespace {

#define FATHOM_PREDICTION_COLUMNS                                                                                      \
    "SELECT p.*, c.id AS center_id, c.name AS center, u.name AS unit_type "                                            \
    "FROM prediction p JOIN unit_type u ON u.id = p.unit_type_id JOIN center c ON c.id = u.center_id "

#define FATHOM_PREDICTION_FILTER(scope)                                                                                \
    "($1 = '' OR p.job_type = $1) AND (NOT $2::boolean OR p.ended_at IS NOT NULL) "                                    \
    "AND " scope "AND ($4 = '' OR p.attempt_id < $4) ORDER BY p.attempt_id DESC LIMIT $5"
#define FATHOM_OF_OWNER "($3 = '' OR p.submitted_by = $3) "

// Unprepared on purpose: planned for these values, so that each combination of filters uses its own index. Ids of
// attempts sort by time.
constexpr const char* kSelectPage = FATHOM_PREDICTION_COLUMNS "WHERE " FATHOM_PREDICTION_FILTER(FATHOM_OF_OWNER);
constexpr const char* kSelectPageOfScope =
    FATHOM_PREDICTION_COLUMNS "WHERE " FATHOM_PREDICTION_FILTER(FATHOM_IN_JOB_SCOPE("p", "$3", "$6"));

// The newest of each unit type, then of these: as quick where the newest of all are elsewhere.
constexpr const char* kSelectPageOfPlaces = R"sql(
    SELECT p.*, c.id AS center_id, c.name AS center, u.name AS unit_type
    FROM unit_type u JOIN center c ON c.id = u.center_id
         CROSS JOIN LATERAL (SELECT * FROM prediction p
                             WHERE p.unit_type_id = u.id AND )sql" FATHOM_PREDICTION_FILTER(
    FATHOM_IN_JOB_SCOPE("p", "$3", "$8")) R"sql() p
    WHERE ($6 = '' OR u.id = $6 OR c.name || '/' || u.name = $6) AND ($7 = '' OR c.id = $7 OR c.name = $7)
    ORDER BY p.attempt_id DESC LIMIT $5)sql";

constexpr Statement kSelectEnded{"learning_select_ended", FATHOM_PREDICTION_COLUMNS R"sql(
    WHERE p.ended_at > now() - interval '90 days' ORDER BY p.ended_at DESC LIMIT $1)sql"};

std::optional<double> to_optional_double(const pqxx::field& field)
{
    if (field.is_null()) return std::nullopt;
    return field.as<double>();
}

PredictionRecord to_record(const pqxx::row& row)
{
    const auto number = [&](const char* name) { return row[name].as<double>(); };
    const auto text = [&](const char* name) { return row[name].as<std::string>(); };
    return {.attempt_id = {text("attempt_id")},
            .job_id = {text("job_id")},
            .owner = text("submitted_by"),
            .project = text("project"),
            .job_type = text("job_type"),
            .center_id = {text("center_id")},
            .center = text("center"),
            .unit_type_id = {text("unit_type_id")},
            .unit_type = text("unit_type"),
            .unit_count = row["unit_count"].as<std::int64_t>(),
            .raw = {number("raw_prediction_s"), number("raw_prediction_low_s"), number("raw_prediction_high_s")},
            .raw_basis = text("raw_prediction_basis"),
            .run = {number("run_s"), number("low_s"), number("high_s")},
            .width_factor = number("width_factor"),
            .free_s = number("free_s"),
            .wait = {number("wait_s"), number("wait_low_s"), number("wait_high_s")},
            .cost = number("cost"),
            .energy_j = number("energy_j"),
            .currency = text("currency"),
            .decided_at = to_timestamp(row["decided_at"]),
            .actual_run_s = to_optional_double(row["actual_run_s"]),
            .actual_wait_s = to_optional_double(row["actual_wait_s"]),
            .actual_cost = to_optional_double(row["actual_cost"]),
            .ended_at = to_optional_timestamp(row["ended_at"]),
            .outcome = text("outcome")};
}

Json number_or_null(const std::optional<double>& number)
{
    return number ? Json(*number) : Json();
}

/// Null where nothing was predicted.
Json run_json(const RunTime& time)
{
    if (!(time.run_s > 0)) return nullptr;
    return {{"run_s", time.run_s}, {"low_s", time.low_s}, {"high_s", time.high_s}};
}

} // namespace

Page<PredictionRecord> select_predictions(pqxx::transaction_base& transaction, const PredictionFilter& filter,
                                          std::int64_t size, const std::string& after)
{
    std::vector<PredictionRecord> records;
    const bool is_of_places = !filter.unit_type.empty() || !filter.center.empty();
    const std::string& owner = filter.scope.owner;
    const std::string projects = sql_array(filter.scope.projects);
    pqxx::result rows;
    if (is_of_places)
        rows = transaction.exec_params(kSelectPageOfPlaces, filter.job_type, filter.is_ended_only, owner, after,
                                       size + 1, filter.unit_type, filter.center, projects);
    else if (filter.scope.projects.empty())
        rows = transaction.exec_params(kSelectPage, filter.job_type, filter.is_ended_only, owner, after, size + 1);
    else
        rows = transaction.exec_params(kSelectPageOfScope, filter.job_type, filter.is_ended_only, owner, after,
                                       size + 1, projects);
    for (const pqxx::row& row : rows)
        records.push_back(to_record(row));
    return cut_page(std::move(records), size, [](const PredictionRecord& record) { return record.attempt_id.value; });
}

std::vector<PredictionRecord> select_ended_predictions(pqxx::transaction_base& transaction, std::int64_t limit)
{
    std::vector<PredictionRecord> records;
    for (const pqxx::row& row : exec(transaction, kSelectEnded, limit))
        records.push_back(to_record(row));
    return records;
}

Json to_json(const PredictionRecord& record)
{
    return {{"attempt_id", record.attempt_id.value},
            {"job_id", record.job_id.value},
            {"job_type", record.job_type},
            {"center_id", record.center_id.value},
            {"center", record.center},
            {"unit_type_id", record.unit_type_id.value},
            {"unit_type", record.unit_type},
            {"unit_count", record.unit_count},
            {"raw_prediction", run_json(record.raw)},
            {"raw_prediction_basis", record.raw_basis},
            {"predicted", run_json(record.run)},
            {"width_factor", record.width_factor},
            {"wait", {{"wait_s", record.wait.wait_s}, {"low_s", record.wait.low_s}, {"high_s", record.wait.high_s}}},
            {"free_s", record.free_s},
            {"cost", record.cost},
            {"energy_j", record.energy_j > 0 ? Json(record.energy_j) : Json()},
            {"currency", text_or_null(record.currency)},
            {"decided_at", format_rfc3339(record.decided_at)},
            {"actual_run_s", number_or_null(record.actual_run_s)},
            {"actual_wait_s", number_or_null(record.actual_wait_s)},
            {"actual_cost", number_or_null(record.actual_cost)},
            {"ended_at", time_json(record.ended_at)},
            {"outcome", text_or_null(record.outcome)}};
}

} // namespace fathom::server
