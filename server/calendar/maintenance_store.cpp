#include "server/calendar/maintenance_store.hpp"

#include "server/store/column.hpp"
#include "server/store/statement.hpp"

#include <pqxx/pqxx>

namespace fathom::server {
namespace {

constexpr Statement kInsert{"calendar_insert_maintenance", R"sql(
    INSERT INTO maintenance_window (id, center_id, unit_type_id, starts_at, ends_at, reason, created_by)
    VALUES ($1, $2, nullif($3, ''), $4::timestamptz, $5::timestamptz, $6, $7))sql"};

constexpr Statement kSelect{"calendar_select_maintenance", R"sql(
    SELECT m.*, c.name AS center, u.name AS unit_type,
           CASE WHEN m.cancelled_at IS NOT NULL THEN 'cancelled' WHEN m.ends_at <= now() THEN 'ended'
                WHEN m.starts_at <= now() THEN 'active' ELSE 'planned' END AS state
    FROM maintenance_window m JOIN center c ON c.id = m.center_id LEFT JOIN unit_type u ON u.id = m.unit_type_id
    WHERE ($1 = '' OR m.id = $1) AND ($2 = '' OR c.id = $2 OR c.name = $2)
      AND (NOT $3::boolean OR (m.cancelled_at IS NULL AND m.ends_at > now())) AND ($4 = '' OR m.id < $4)
    ORDER BY m.id DESC LIMIT $5)sql"};

constexpr Statement kLock{"calendar_lock_maintenance", "SELECT 1 FROM maintenance_window WHERE id = $1 FOR UPDATE"};

constexpr Statement kCancel{"calendar_cancel_maintenance",
                            "UPDATE maintenance_window SET cancelled_at = now() WHERE id = $1"};

constexpr Statement kCountOpen{"calendar_count_maintenance", R"sql(
    SELECT count(*) FROM maintenance_window
    WHERE center_id = $1 AND cancelled_at IS NULL AND ends_at > now())sql"};

std::vector<MaintenanceWindow> select(pqxx::transaction_base& transaction, const std::string& id,
                                      const MaintenanceFilter& filter, const std::string& after, std::int64_t limit)
{
    std::vector<MaintenanceWindow> all;
    for (const pqxx::row& row : exec(transaction, kSelect, id, filter.center, filter.is_open_only, after, limit)) {
        all.push_back({.id = {row["id"].as<std::string>()},
                       .center_id = row["center_id"].as<std::string>(),
                       .center = row["center"].as<std::string>(),
                       .unit_type_id = row["unit_type_id"].as<std::string>(""),
                       .unit_type = row["unit_type"].as<std::string>(""),
                       .period = {to_timestamp(row["starts_at"]), to_timestamp(row["ends_at"])},
                       .reason = row["reason"].as<std::string>(),
                       .state = row["state"].as<std::string>(),
                       .created_at = to_timestamp(row["created_at"]),
                       .created_by = row["created_by"].as<std::string>(),
                       .cancelled_at = to_optional_timestamp(row["cancelled_at"])});
    }
    return all;
}

} // namespace

void insert_maintenance(pqxx::transaction_base& transaction, const NewMaintenance& maintenance)
{
    exec(transaction, kInsert, maintenance.id.value, maintenance.center_id, maintenance.unit_type_id,
         format_rfc3339(maintenance.period.starts_at), format_rfc3339(maintenance.period.ends_at), maintenance.reason,
         maintenance.created_by);
}

Page<MaintenanceWindow> select_maintenance_windows(pqxx::transaction_base& transaction, const MaintenanceFilter& filter,
                                                   std::int64_t size, const std::string& after)
{
    return cut_page(select(transaction, "", filter, after, size + 1), size,
                    [](const MaintenanceWindow& one) { return one.id.value; });
}

std::optional<MaintenanceWindow> select_maintenance(pqxx::transaction_base& transaction, const std::string& id)
{
    if (id.empty()) return std::nullopt;
    std::vector<MaintenanceWindow> found = select(transaction, id, {}, "", 1);
    if (found.empty()) return std::nullopt;
    return std::move(found.front());
}

std::optional<MaintenanceWindow> lock_maintenance(pqxx::transaction_base& transaction, const std::string& id)
{
    exec(transaction, kLock, id);
    return select_maintenance(transaction, id);
}

void update_to_cancelled(pqxx::transaction_base& transaction, const MaintenanceId& id)
{
    exec(transaction, kCancel, id.value);
}

std::int64_t count_open_maintenance(pqxx::transaction_base& transaction, const std::string& center_id)
{
    return exec(transaction, kCountOpen, center_id)[0][0].as<std::int64_t>();
}

Json to_json(const MaintenanceWindow& maintenance)
{
    return {{"id", maintenance.id.value},
            {"center_id", maintenance.center_id},
            {"center", maintenance.center},
            {"unit_type_id", text_or_null(maintenance.unit_type_id)},
            {"unit_type", text_or_null(maintenance.unit_type)},
            {"starts_at", format_rfc3339(maintenance.period.starts_at)},
            {"ends_at", format_rfc3339(maintenance.period.ends_at)},
            {"reason", maintenance.reason},
            {"state", maintenance.state},
            {"created_at", format_rfc3339(maintenance.created_at)},
            {"created_by", maintenance.created_by},
            {"cancelled_at", time_json(maintenance.cancelled_at)}};
}

} // namespace fathom::server
