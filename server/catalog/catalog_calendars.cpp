#include "server/catalog/catalog_calendars.hpp"

#include "server/store/column.hpp"
#include "server/store/sql_array.hpp"
#include "server/store/statement.hpp"

#include <pqxx/pqxx>

namespace fathom::server {
namespace {

constexpr Statement kSelectHolds{"routing_select_holds", R"sql(
    SELECT unit_type_id, project, starts_at, ends_at, unit_count FROM advance_reservation
    WHERE cancelled_at IS NULL AND ends_at > now() AND ($1::text[] IS NULL OR unit_type_id = ANY ($1))
    ORDER BY id)sql"};

// A maintenance of a whole center is one of each of its unit types.
constexpr Statement kSelectClosures{"routing_select_closures", R"sql(
    SELECT u.id AS unit_type_id, m.starts_at, m.ends_at
    FROM maintenance_window m
         JOIN unit_type u ON u.center_id = m.center_id AND (m.unit_type_id IS NULL OR m.unit_type_id = u.id)
    WHERE m.cancelled_at IS NULL AND m.ends_at > now() AND u.active AND ($1::text[] IS NULL OR u.id = ANY ($1))
    ORDER BY m.id, u.id)sql"};

/// @param ids  an SQL array; nullptr: of all unit types.
UnitCalendar select(pqxx::work& transaction, const char* ids)
{
    UnitCalendar calendar;
    for (const pqxx::row& row : exec(transaction, kSelectHolds, ids)) {
        calendar.holds.push_back({.unit_type_id = {row["unit_type_id"].as<std::string>()},
                                  .project = row["project"].as<std::string>(),
                                  .from = to_timestamp(row["starts_at"]),
                                  .to = to_timestamp(row["ends_at"]),
                                  .unit_count = row["unit_count"].as<std::int64_t>()});
    }
    for (const pqxx::row& row : exec(transaction, kSelectClosures, ids)) {
        calendar.closures.push_back({.unit_type_id = {row["unit_type_id"].as<std::string>()},
                                     .from = to_timestamp(row["starts_at"]),
                                     .to = to_timestamp(row["ends_at"])});
    }
    return calendar;
}

} // namespace

UnitCalendar select_calendar(pqxx::work& transaction)
{
    return select(transaction, nullptr);
}

UnitCalendar select_calendar_of(pqxx::work& transaction, const std::vector<std::string>& unit_type_ids)
{
    return select(transaction, sql_array(unit_type_ids).c_str());
}

} // namespace fathom::server
