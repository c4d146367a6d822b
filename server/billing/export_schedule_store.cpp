#include "server/billing/export_schedule_store.hpp"

#include "server/api/cron_times.hpp"
#include "server/store/column.hpp"
#include "server/store/statement.hpp"

#include <pqxx/pqxx>

namespace fathom::server {
namespace {

constexpr Statement kInsert{"billing_insert_export_schedule", R"sql(
    INSERT INTO export_schedule (id, name, cron, format, months, parameters, destination, enabled, created_by, due_at,
                                 next_run_at)
    VALUES ($1, $2, $3, $4, $5, $6::jsonb, $7, $8, $9, $10::timestamptz, $10::timestamptz)
    ON CONFLICT (name) DO NOTHING RETURNING id)sql"};

constexpr Statement kSelectPage{"billing_select_export_schedules",
                                "SELECT * FROM export_schedule WHERE name > $1 ORDER BY name LIMIT $2"};

// By id first: somebody may name a schedule like another one's id.
constexpr Statement kSelect{"billing_select_export_schedule",
                            "SELECT * FROM export_schedule WHERE id = $1 OR name = $1 ORDER BY id = $1 DESC LIMIT 1"};

constexpr Statement kLock{"billing_lock_export_schedule",
                          "SELECT * FROM export_schedule WHERE id = $1 OR name = $1 ORDER BY id = $1 DESC LIMIT 1 "
                          "FOR UPDATE"};

constexpr Statement kIsNameTaken{"billing_export_schedule_name_taken",
                                 "SELECT 1 FROM export_schedule WHERE name = $2 AND id <> $1"};

constexpr Statement kUpdate{"billing_update_export_schedule", R"sql(
    UPDATE export_schedule SET name = $2, cron = $3, format = $4, months = $5, parameters = $6::jsonb, destination = $7,
        enabled = $8, due_at = $9::timestamptz, next_run_at = $10::timestamptz, failures = $11, version = version + 1
    WHERE id = $1)sql"};

constexpr Statement kDelete{"billing_delete_export_schedule", "DELETE FROM export_schedule WHERE id = $1"};

constexpr Statement kCount{"billing_count_export_schedules", "SELECT count(*) FROM export_schedule"};

constexpr Statement kClaim{"billing_claim_export_schedule", R"sql(
    UPDATE export_schedule SET claimed_until = $2::timestamptz
    WHERE id = (SELECT id FROM export_schedule
                WHERE enabled AND next_run_at <= $1::timestamptz
                  AND (claimed_until IS NULL OR claimed_until <= $1::timestamptz)
                ORDER BY next_run_at, id LIMIT 1 FOR UPDATE SKIP LOCKED)
    RETURNING *)sql"};

constexpr Statement kExtendClaim{
    "billing_extend_export_claim",
    "UPDATE export_schedule SET claimed_until = $2::timestamptz WHERE id = $1 AND claimed_until IS NOT NULL"};

constexpr Statement kFinish{"billing_finish_export", R"sql(
    UPDATE export_schedule SET last_run_at = $3::timestamptz, last_error = $4, claimed_until = NULL,
        last_file = CASE WHEN $5 = '' THEN last_file ELSE $5 END,
        failures = CASE WHEN $5 <> '' THEN 0 ELSE failures + 1 END,
        due_at = CASE WHEN version = $6 THEN $7::timestamptz ELSE due_at END,
        next_run_at = CASE WHEN version = $6 THEN $2::timestamptz ELSE next_run_at END
    WHERE id = $1)sql"};

ExportSchedule to_schedule(const pqxx::row& row)
{
    return {.id = {row["id"].as<std::string>()},
            .name = row["name"].as<std::string>(),
            .cron = row["cron"].as<std::string>(),
            .format = row["format"].as<std::string>(),
            .months = row["months"].as<std::string>(),
            .parameters = to_json_value(row["parameters"]),
            .destination = row["destination"].as<std::string>(),
            .is_enabled = row["enabled"].as<bool>(),
            .version = row["version"].as<std::int64_t>(),
            .created_at = to_timestamp(row["created_at"]),
            .created_by = row["created_by"].as<std::string>(),
            .due_at = to_optional_timestamp(row["due_at"]),
            .next_run_at = to_optional_timestamp(row["next_run_at"]),
            .failures = row["failures"].as<std::int64_t>(),
            .last_run_at = to_optional_timestamp(row["last_run_at"]),
            .last_file = row["last_file"].as<std::string>(),
            .last_error = row["last_error"].as<std::string>()};
}

std::optional<std::string> text_of(const std::optional<Timestamp>& time)
{
    if (!time) return std::nullopt;
    return format_rfc3339(*time);
}

std::optional<ExportSchedule> first_of(const pqxx::result& rows)
{
    if (rows.empty()) return std::nullopt;
    return to_schedule(rows[0]);
}

} // namespace

bool insert_export_schedule(pqxx::transaction_base& transaction, const ExportSchedule& schedule)
{
    return !exec(transaction, kInsert, schedule.id.value, schedule.name, schedule.cron, schedule.format,
                 schedule.months, schedule.parameters.dump(), schedule.destination, schedule.is_enabled,
                 schedule.created_by, text_of(schedule.due_at))
                .empty();
}

Page<ExportSchedule> select_export_schedules(pqxx::transaction_base& transaction, std::int64_t size,
                                             const std::string& after)
{
    std::vector<ExportSchedule> schedules;
    for (const pqxx::row& row : exec(transaction, kSelectPage, after, size + 1))
        schedules.push_back(to_schedule(row));
    return cut_page(std::move(schedules), size, [](const ExportSchedule& schedule) { return schedule.name; });
}

std::optional<ExportSchedule> select_export_schedule(pqxx::transaction_base& transaction, const std::string& key)
{
    return first_of(exec(transaction, kSelect, key));
}

std::optional<ExportSchedule> lock_export_schedule(pqxx::transaction_base& transaction, const std::string& key)
{
    return first_of(exec(transaction, kLock, key));
}

bool update_export_schedule(pqxx::transaction_base& transaction, const ExportSchedule& schedule)
{
    if (!exec(transaction, kIsNameTaken, schedule.id.value, schedule.name).empty()) return false;
    exec(transaction, kUpdate, schedule.id.value, schedule.name, schedule.cron, schedule.format, schedule.months,
         schedule.parameters.dump(), schedule.destination, schedule.is_enabled, text_of(schedule.due_at),
         text_of(schedule.next_run_at), schedule.failures);
    return true;
}

void delete_export_schedule(pqxx::transaction_base& transaction, const ExportScheduleId& id)
{
    exec(transaction, kDelete, id.value);
}

std::int64_t count_export_schedules(pqxx::transaction_base& transaction)
{
    return exec(transaction, kCount)[0][0].as<std::int64_t>();
}

std::optional<ExportSchedule> claim_export_schedule(pqxx::transaction_base& transaction, Timestamp now,
                                                    Timestamp claimed_until)
{
    return first_of(exec(transaction, kClaim, format_rfc3339(now), format_rfc3339(claimed_until)));
}

void extend_export_claim(pqxx::transaction_base& transaction, const ExportScheduleId& id, Timestamp claimed_until)
{
    exec(transaction, kExtendClaim, id.value, format_rfc3339(claimed_until));
}

void finish_export_run(pqxx::transaction_base& transaction, const ExportSchedule& claimed, const ExportRun& run)
{
    exec(transaction, kFinish, claimed.id.value, format_rfc3339(run.next_run_at), format_rfc3339(run.ran_at), run.error,
         run.file, claimed.version, format_rfc3339(run.due_at));
}

Json to_json(const ExportSchedule& schedule)
{
    return {{"id", schedule.id.value},
            {"name", schedule.name},
            {"cron", schedule.cron},
            {"format", schedule.format},
            {"months", schedule.months},
            {"parameters", schedule.parameters},
            {"destination", schedule.destination},
            {"enabled", schedule.is_enabled},
            {"version", schedule.version},
            {"created_at", format_rfc3339(schedule.created_at)},
            {"created_by", schedule.created_by},
            {"next_run_at", time_json(schedule.next_run_at)},
            {"next_runs_at", next_times_json(schedule.cron, schedule.due_at)},
            {"failures", schedule.failures},
            {"last_run_at", time_json(schedule.last_run_at)},
            {"last_file", text_or_null(schedule.last_file)},
            {"last_error", text_or_null(schedule.last_error)}};
}

} // namespace fathom::server
