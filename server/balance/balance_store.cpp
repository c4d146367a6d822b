#include "server/balance/balance_store.hpp"

#include "server/store/column.hpp"
#include "server/store/sql_array.hpp"
#include "server/store/statement.hpp"

#include <pqxx/pqxx>

namespace fathom::server {
namespace {

constexpr Statement kCheckSession{"balance_check_session", R"sql(
    SELECT 1 FROM center WHERE id = $1 AND session_epoch = $2::bigint AND revoked_at IS NULL)sql"};

constexpr Statement kLockUnit{"balance_lock_unit", R"sql(
    SELECT id, last_number FROM balanced_unit WHERE center_id = $1 AND name = $2 FOR UPDATE)sql"};
constexpr Statement kAddUnit{"balance_add_unit", R"sql(
    INSERT INTO balanced_unit (center_id, name)
    SELECT $1, $2 WHERE (SELECT count(*) FROM balanced_unit WHERE center_id = $1) < $3::bigint
    ON CONFLICT (center_id, name) DO UPDATE SET name = excluded.name RETURNING id, last_number)sql"};

constexpr Statement kInsertSteps{"balance_insert_steps", R"sql(
    WITH added AS (
        INSERT INTO balance_step (unit_id, number, at, attempt_id, step)
        SELECT $1::bigint, $2::bigint + s.place, s.at, s.attempt_id, s.step::jsonb
        FROM unnest($3::bigint[], $4::timestamptz[], $5::text[], $6::text[]) AS s (place, at, attempt_id, step)
        ORDER BY s.place
        ON CONFLICT DO NOTHING RETURNING number)
    SELECT coalesce(max(number), $2::bigint) FROM added)sql"};
constexpr Statement kNoteSteps{"balance_note_steps", R"sql(
    UPDATE balanced_unit SET last_number = $2::bigint, told_at = now(), dropped_count = dropped_count + $3::bigint
    WHERE id = $1)sql"};
constexpr Statement kTrimSteps{"balance_trim_steps", "DELETE FROM balance_step WHERE unit_id = $1 AND number <= $2"};

constexpr Statement kFindUnit{"balance_find_unit", R"sql(
    SELECT u.id, u.last_number FROM center c JOIN balanced_unit u ON u.center_id = c.id
    WHERE (c.id = $1 OR c.name = $1) AND c.revoked_at IS NULL AND u.name = $2)sql"};

// A job is named to who may read it, and only where it runs at this center: the attempt is the center's word.
#define FATHOM_BALANCE_STEP                                                                                            \
    "SELECT s.number, s.at, s.step::text AS step,"                                                                     \
    " (SELECT j.id FROM attempt a JOIN job j ON j.id = a.job_id JOIN balanced_unit b ON b.center_id = a.center_id"     \
    "  WHERE a.id = s.attempt_id AND b.id = s.unit_id AND " FATHOM_IN_JOB_SCOPE("j", "$2",                             \
                                                                                "$3") ") AS job_id"                    \
                                                                                      " FROM balance_step s"

constexpr Statement kSelectHistory{
    "balance_select_history", FATHOM_BALANCE_STEP
    " WHERE s.unit_id = $1 AND s.number < $4::bigint AND ($5::timestamptz IS NULL OR s.at >= $5::timestamptz)"
    " ORDER BY s.number DESC LIMIT $6::bigint"};
constexpr Statement kSelectAfter{"balance_select_after",
                                 FATHOM_BALANCE_STEP " WHERE s.unit_id = $1 AND s.number > $4::bigint"
                                                     " ORDER BY s.number LIMIT $5::bigint"};

constexpr Statement kListUnits{"balance_list_units", R"sql(
    SELECT c.name AS center, c.id AS center_id, u.name, u.told_at, u.dropped_count, s.number, s.at, s.step::text AS step,
           (SELECT j.id FROM attempt a JOIN job j ON j.id = a.job_id
            WHERE a.id = s.attempt_id AND a.center_id = u.center_id AND )sql" FATHOM_IN_JOB_SCOPE(
                                                         "j", "$5", "$6") R"sql() AS job_id
    FROM balanced_unit u JOIN center c ON c.id = u.center_id
         LEFT JOIN LATERAL (SELECT * FROM balance_step WHERE unit_id = u.id ORDER BY number DESC LIMIT 1) s ON true
    WHERE c.revoked_at IS NULL AND ($1 = '' OR c.id = $1 OR c.name = $1) AND (c.name, u.name) > ($2, $3)
    ORDER BY c.name, u.name LIMIT $4)sql"};

BalanceStepRecord to_record(const pqxx::row& row)
{
    return {.number = row["number"].as<std::int64_t>(),
            .at = to_timestamp(row["at"]),
            .job_id = row["job_id"].as<std::string>(""),
            .step = to_json_value(row["step"])};
}

std::vector<BalanceStepRecord> to_records(const pqxx::result& rows)
{
    std::vector<BalanceStepRecord> records;
    records.reserve(static_cast<std::size_t>(rows.size()));
    for (const pqxx::row& row : rows)
        records.push_back(to_record(row));
    return records;
}

/// What has no column of its own.
std::string stored(const BalanceStep& step)
{
    Json json = to_json(step);
    for (const char* name : {"at", "unit", "attempt"})
        json.erase(name);
    return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

/// The unit's row, locked; it is made where the center has room for it.
std::optional<BalancedUnitRow> lock_unit(pqxx::transaction_base& transaction, const CenterId& center,
                                         const std::string& unit, std::int64_t max_units)
{
    pqxx::result rows = exec(transaction, kLockUnit, center.value, unit);
    if (rows.empty()) rows = exec(transaction, kAddUnit, center.value, unit, max_units);
    if (rows.empty()) return std::nullopt;
    return BalancedUnitRow{rows[0]["id"].as<std::int64_t>(), rows[0]["last_number"].as<std::int64_t>()};
}

} // namespace

Json to_json(const BalanceStepRecord& record)
{
    Json json = record.step;
    json["number"] = record.number;
    json["at"] = format_rfc3339(record.at);
    json["job_id"] = text_or_null(record.job_id);
    return json;
}

Json to_json(const BalancedUnitRecord& record)
{
    return {{"center", record.center},
            {"center_id", record.center_id},
            {"unit", record.unit},
            {"told_at", format_rfc3339(record.told_at)},
            {"dropped_count", record.dropped_count},
            {"last", record.last ? to_json(*record.last) : Json()}};
}

bool is_balance_session(pqxx::transaction_base& transaction, const CenterId& center, std::int64_t epoch)
{
    return !exec(transaction, kCheckSession, center.value, epoch).empty();
}

bool insert_balance_steps(pqxx::transaction_base& transaction, const CenterId& center, const std::string& unit,
                          std::span<const BalanceStep> steps, std::int64_t dropped_count, const BalanceLimits& limits)
{
    const std::optional<BalancedUnitRow> row = lock_unit(transaction, center, unit, limits.units_of_center);
    if (!row) return false;
    SqlArray places;
    SqlArray times;
    SqlArray attempts;
    SqlArray texts;
    std::int64_t place = 0;
    for (const BalanceStep& step : steps) {
        places.add(++place);
        times.add(format_rfc3339(step.at));
        attempts.add(step.attempt);
        texts.add(stored(step));
    }
    const auto last_number = exec(transaction, kInsertSteps, row->id, row->last_number, places.take(), times.take(),
                                  attempts.take(), texts.take())[0][0]
                                 .as<std::int64_t>();
    exec(transaction, kNoteSteps, row->id, last_number, dropped_count);
    exec(transaction, kTrimSteps, row->id, last_number - limits.steps_of_unit);
    return true;
}

std::optional<BalancedUnitRow> find_balanced_unit(pqxx::transaction_base& transaction, const BalancedUnitKey& key)
{
    const pqxx::result rows = exec(transaction, kFindUnit, key.center, key.unit);
    if (rows.empty()) return std::nullopt;
    return BalancedUnitRow{rows[0]["id"].as<std::int64_t>(), rows[0]["last_number"].as<std::int64_t>()};
}

Page<BalanceStepRecord> select_balance_history(pqxx::transaction_base& transaction, std::int64_t unit_id,
                                               std::optional<Timestamp> since, std::int64_t before, std::int64_t size,
                                               const JobScope& scope)
{
    const std::string from = since ? format_rfc3339(*since) : std::string();
    const char* const from_or_null = since ? from.c_str() : nullptr;
    return cut_page(to_records(exec(transaction, kSelectHistory, unit_id, scope.owner, sql_array(scope.projects),
                                    before, from_or_null, size + 1)),
                    size, [](const BalanceStepRecord& record) { return std::to_string(record.number); });
}

std::vector<BalanceStepRecord> select_balance_steps(pqxx::transaction_base& transaction, std::int64_t unit_id,
                                                    std::int64_t after, std::int64_t limit, const JobScope& scope)
{
    return to_records(exec(transaction, kSelectAfter, unit_id, scope.owner, sql_array(scope.projects), after, limit));
}

Page<BalancedUnitRecord> select_balanced_units(pqxx::transaction_base& transaction, const std::string& center,
                                               std::int64_t size, const std::string& after, const JobScope& scope)
{
    // A center's name holds no slash (EnrolmentService sees to it): the first one separates.
    const std::size_t cut = after.find('/');
    const std::string after_unit = cut == std::string::npos ? std::string() : after.substr(cut + 1);
    std::vector<BalancedUnitRecord> units;
    for (const pqxx::row& row : exec(transaction, kListUnits, center, after.substr(0, cut), after_unit, size + 1,
                                     scope.owner, sql_array(scope.projects))) {
        units.push_back({.center = row["center"].as<std::string>(),
                         .center_id = row["center_id"].as<std::string>(),
                         .unit = row["name"].as<std::string>(),
                         .told_at = to_timestamp(row["told_at"]),
                         .dropped_count = row["dropped_count"].as<std::int64_t>(),
                         .last = row["number"].is_null() ? std::nullopt : std::optional(to_record(row))});
    }
    return cut_page(std::move(units), size, [](const BalancedUnitRecord& one) { return one.center + "/" + one.unit; });
}

} // namespace fathom::server
