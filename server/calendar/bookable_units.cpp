#include "server/calendar/bookable_units.hpp"

#include "server/store/column.hpp"
#include "server/store/statement.hpp"

#include <pqxx/pqxx>

namespace fathom::server {
namespace {

// In order of id, as the router locks them: else the two could deadlock. NO KEY: attempts that refer to these rows need
// not wait.
constexpr Statement kLock{"calendar_lock_units", R"sql(
    SELECT u.id, u.name, u.center_id, c.name AS center, u.unit_count
    FROM unit_type u JOIN center c ON c.id = u.center_id
    WHERE (c.id = $1 OR c.name = $1) AND ($2 = '' OR u.id = $2 OR u.name = $2) AND u.active AND c.revoked_at IS NULL
    ORDER BY u.id FOR NO KEY UPDATE OF u)sql"};

constexpr Statement kSelectBookings{"calendar_select_bookings", R"sql(
    SELECT starts_at, ends_at, unit_count FROM advance_reservation
    WHERE unit_type_id = $1 AND cancelled_at IS NULL AND ends_at > $4::timestamptz
    UNION ALL
    SELECT starts_at, ends_at, $3::bigint FROM maintenance_window
    WHERE center_id = $2 AND (unit_type_id IS NULL OR unit_type_id = $1) AND cancelled_at IS NULL
      AND ends_at > $4::timestamptz)sql"};

} // namespace

std::vector<BookableUnits> lock_bookable_units(pqxx::transaction_base& transaction, const std::string& center,
                                               const std::string& unit_type)
{
    std::vector<BookableUnits> all;
    for (const pqxx::row& row : exec(transaction, kLock, center, unit_type)) {
        all.push_back({.unit_type_id = {row["id"].as<std::string>()},
                       .unit_type = row["name"].as<std::string>(),
                       .center_id = {row["center_id"].as<std::string>()},
                       .center = row["center"].as<std::string>(),
                       .unit_count = row["unit_count"].as<std::int64_t>()});
    }
    return all;
}

std::vector<Booking> select_bookings(pqxx::transaction_base& transaction, const BookableUnits& units, Timestamp from)
{
    std::vector<Booking> bookings;
    for (const pqxx::row& row : exec(transaction, kSelectBookings, units.unit_type_id.value, units.center_id.value,
                                     units.unit_count, format_rfc3339(from)))
        bookings.push_back(
            {to_timestamp(row["starts_at"]), to_timestamp(row["ends_at"]), row["unit_count"].as<std::int64_t>()});
    return bookings;
}

} // namespace fathom::server
