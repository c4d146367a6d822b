#include "server/probing/schedules/schedule_store.hpp"

#include "server/api/cron_times.hpp"
#include "server/store/column.hpp"
#include "server/store/statement.hpp"

#include <pqxx/pqxx>

namespace fathom::server {
namespace {

constexpr Statement kInsert{"probing_insert_schedule", R"sql(
    INSERT INTO probe_schedule (id, name, cron, run_order, enabled, created_by, next_run_at)
    VALUES ($1, $2, $3, $4::jsonb, $5, $6, $7::timestamptz) ON CONFLICT (name) DO NOTHING RETURNING id)sql"};

constexpr Statement kSelectPage{"probing_select_schedules",
                                "SELECT * FROM probe_schedule WHERE name > $1 ORDER BY name LIMIT $2"};

// By id first: somebody may name a schedule like another one's id.
constexpr Statement kSelect{"probing_select_schedule",
                            "SELECT * FROM probe_schedule WHERE id = $1 OR name = $1 ORDER BY id = $1 DESC LIMIT 1"};

constexpr Statement kLock{"probing_lock_schedule",
                          "SELECT * FROM probe_schedule WHERE id = $1 OR name = $1 ORDER BY id = $1 DESC LIMIT 1 "
                          "FOR UPDATE"};

constexpr Statement kIsNameTaken{"probing_schedule_name_taken",
                                 "SELECT 1 FROM probe_schedule WHERE name = $2 AND id <> $1"};

constexpr Statement kUpdate{"probing_update_schedule", R"sql(
    UPDATE probe_schedule SET name = $2, cron = $3, run_order = $4::jsonb, enabled = $5, next_run_at = $6::timestamptz,
        version = version + 1
    WHERE id = $1)sql"};

constexpr Statement kDelete{"probing_delete_schedule", "DELETE FROM probe_schedule WHERE id = $1"};

constexpr Statement kClaim{"probing_claim_schedules", R"sql(
    UPDATE probe_schedule SET claimed_until = $2::timestamptz
    WHERE id IN (SELECT id FROM probe_schedule
                 WHERE enabled AND next_run_at <= $1::timestamptz
                   AND (claimed_until IS NULL OR claimed_until <= $1::timestamptz)
                 ORDER BY next_run_at, id LIMIT $3 FOR UPDATE SKIP LOCKED)
    RETURNING *)sql"};

constexpr Statement kFinish{"probing_finish_schedule", R"sql(
    UPDATE probe_schedule SET last_run_at = $3::timestamptz, last_error = $4, claimed_until = NULL,
        next_run_at = CASE WHEN version = $5 THEN $2::timestamptz ELSE next_run_at END
    WHERE id = $1)sql"};

ProbeSchedule to_schedule(const pqxx::row& row)
{
    return {.id = {row["id"].as<std::string>()},
            .name = row["name"].as<std::string>(),
            .cron = row["cron"].as<std::string>(),
            .order = to_json_value(row["run_order"]),
            .is_enabled = row["enabled"].as<bool>(),
            .version = row["version"].as<std::int64_t>(),
            .created_at = to_timestamp(row["created_at"]),
            .created_by = row["created_by"].as<std::string>(),
            .next_run_at = to_optional_timestamp(row["next_run_at"]),
            .last_run_at = to_optional_timestamp(row["last_run_at"]),
            .last_error = row["last_error"].as<std::string>()};
}

std::optional<std::string> text_of(const std::optional<Timestamp>& time)
{
    if (!time) return std::nullopt;
    return format_rfc3339(*time);
}

std::optional<ProbeSchedule> first_of(const pqxx::result& rows)
{
    if (rows.empty()) return std::nullopt;
    return to_schedule(rows[0]);
}

} // namespace

bool insert_schedule(pqxx::transaction_base& transaction, const ProbeSchedule& schedule)
{
    return !exec(transaction, kInsert, schedule.id.value, schedule.name, schedule.cron, schedule.order.dump(),
                 schedule.is_enabled, schedule.created_by, text_of(schedule.next_run_at))
                .empty();
}

Page<ProbeSchedule> select_schedules(pqxx::transaction_base& transaction, std::int64_t size, const std::string& after)
{
    std::vector<ProbeSchedule> schedules;
    for (const pqxx::row& row : exec(transaction, kSelectPage, after, size + 1))
        schedules.push_back(to_schedule(row));
    return cut_page(std::move(schedules), size, [](const ProbeSchedule& schedule) { return schedule.name; });
}

std::optional<ProbeSchedule> select_schedule(pqxx::transaction_base& transaction, const std::string& key)
{
    return first_of(exec(transaction, kSelect, key));
}

std::optional<ProbeSchedule> lock_schedule(pqxx::transaction_base& transaction, const std::string& key)
{
    return first_of(exec(transaction, kLock, key));
}

bool update_schedule(pqxx::transaction_base& transaction, const ProbeSchedule& schedule)
{
    if (!exec(transaction, kIsNameTaken, schedule.id.value, schedule.name).empty()) return false;
    exec(transaction, kUpdate, schedule.id.value, schedule.name, schedule.cron, schedule.order.dump(),
         schedule.is_enabled, text_of(schedule.next_run_at));
    return true;
}

void delete_schedule(pqxx::transaction_base& transaction, const ProbeScheduleId& id)
{
    exec(transaction, kDelete, id.value);
}

std::vector<ProbeSchedule> claim_due_schedules(pqxx::transaction_base& transaction, Timestamp now,
                                               Timestamp claimed_until, std::int64_t limit)
{
    std::vector<ProbeSchedule> due;
    for (const pqxx::row& row : exec(transaction, kClaim, format_rfc3339(now), format_rfc3339(claimed_until), limit))
        due.push_back(to_schedule(row));
    return due;
}

void finish_schedule_run(pqxx::transaction_base& transaction, const ProbeSchedule& claimed, Timestamp next_run_at,
                         Timestamp ran_at, const std::string& error)
{
    exec(transaction, kFinish, claimed.id.value, format_rfc3339(next_run_at), format_rfc3339(ran_at), error,
         claimed.version);
}

Json to_json(const ProbeSchedule& schedule)
{
    return {{"id", schedule.id.value},
            {"name", schedule.name},
            {"cron", schedule.cron},
            {"order", schedule.order},
            {"enabled", schedule.is_enabled},
            {"version", schedule.version},
            {"created_at", format_rfc3339(schedule.created_at)},
            {"created_by", schedule.created_by},
            {"next_run_at", time_json(schedule.next_run_at)},
            {"next_runs_at", next_times_json(schedule.cron, schedule.next_run_at)},
            {"last_run_at", time_json(schedule.last_run_at)},
            {"last_error", text_or_null(schedule.last_error)}};
}

} // namespace fathom::server
