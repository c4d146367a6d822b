#include "server/calendar/reservation_store.hpp"

#include "server/store/column.hpp"
#include "server/store/statement.hpp"

#include <pqxx/pqxx>

namespace fathom::server {
namespace {

constexpr Statement kInsert{"calendar_insert_reservation", R"sql(
    INSERT INTO advance_reservation (id, project, center_id, unit_type_id, unit_count, starts_at, ends_at, created_by)
    VALUES ($1, $2, $3, $4, $5, $6::timestamptz, $7::timestamptz, $8))sql"};

constexpr Statement kSelect{"calendar_select_reservations", R"sql(
    SELECT r.*, c.name AS center, u.name AS unit_type,
           CASE WHEN r.cancelled_at IS NOT NULL THEN 'cancelled' WHEN r.ends_at <= now() THEN 'ended'
                WHEN r.starts_at <= now() THEN 'active' ELSE 'planned' END AS state
    FROM advance_reservation r JOIN center c ON c.id = r.center_id JOIN unit_type u ON u.id = r.unit_type_id
    WHERE ($1 = '' OR r.id = $1) AND ($2 = '' OR r.project = $2) AND ($3 = '' OR c.id = $3 OR c.name = $3)
      AND (NOT $4::boolean OR (r.cancelled_at IS NULL AND r.ends_at > now())) AND ($5 = '' OR r.id < $5)
      AND ($7 = '' OR r.created_by = $7
           OR EXISTS (SELECT 1 FROM project_member m WHERE m.project = r.project AND m.token_id = $7))
    ORDER BY r.id DESC LIMIT $6)sql"};

constexpr Statement kLock{"calendar_lock_reservation", "SELECT 1 FROM advance_reservation WHERE id = $1 FOR UPDATE"};

constexpr Statement kSelectMeeting{"calendar_select_meeting", R"sql(
    SELECT id, project, unit_count FROM advance_reservation
    WHERE unit_type_id = $1 AND cancelled_at IS NULL AND ends_at > greatest(now(), $2::timestamptz)
      AND starts_at < $3::timestamptz
    ORDER BY id)sql"};

constexpr Statement kCancel{"calendar_cancel_reservation",
                            "UPDATE advance_reservation SET cancelled_at = now() WHERE id = $1"};

constexpr Statement kCountOpen{"calendar_count_reservations", R"sql(
    SELECT (SELECT count(*) FROM advance_reservation
            WHERE unit_type_id = $1 AND cancelled_at IS NULL AND ends_at > now()) AS of_unit_type,
           (SELECT count(*) FROM advance_reservation
            WHERE project = $2 AND cancelled_at IS NULL AND ends_at > now()) AS of_project,
           (SELECT count(*) FROM advance_reservation
            WHERE created_by = $3 AND cancelled_at IS NULL AND ends_at > now()) AS of_caller)sql"};

constexpr Statement kSelectProjectBookings{"calendar_select_project_bookings", R"sql(
    SELECT starts_at, ends_at, unit_count FROM advance_reservation
    WHERE project = $1 AND cancelled_at IS NULL AND ends_at > greatest(now(), $2::timestamptz))sql"};

constexpr Statement kLockLimits{"calendar_lock_limits", R"sql(
    SELECT max_units, to_jsonb(centers) AS centers FROM project WHERE name = $1 FOR NO KEY UPDATE)sql"};

constexpr Statement kLockRight{"calendar_lock_right", R"sql(
    SELECT reserve_unit_hours FROM project_member WHERE project = $1 AND token_id = $2 FOR NO KEY UPDATE)sql"};

constexpr Statement kSumHeld{"calendar_sum_held", R"sql(
    SELECT coalesce(sum(unit_count * extract(epoch FROM ends_at - greatest(starts_at, now())) / 3600), 0)::float8
    FROM advance_reservation
    WHERE project = $1 AND created_by = $2 AND cancelled_at IS NULL AND ends_at > now())sql"};

constexpr Statement kHaveMembers{"calendar_have_members",
                                 "SELECT EXISTS (SELECT 1 FROM project_member WHERE role <> 'viewer')"};

constexpr Statement kFindProject{"calendar_find_project", R"sql(
    SELECT EXISTS (SELECT 1 FROM project WHERE name = $1) OR EXISTS (SELECT 1 FROM job WHERE project = $1))sql"};

constexpr Statement kSelectProjectNames{"calendar_select_project_names", "SELECT name FROM project"};

AdvanceReservation to_reservation(const pqxx::row& row)
{
    return {.id = {row["id"].as<std::string>()},
            .project = row["project"].as<std::string>(),
            .center_id = row["center_id"].as<std::string>(),
            .center = row["center"].as<std::string>(),
            .unit_type_id = row["unit_type_id"].as<std::string>(),
            .unit_type = row["unit_type"].as<std::string>(),
            .unit_count = row["unit_count"].as<std::int64_t>(),
            .period = {to_timestamp(row["starts_at"]), to_timestamp(row["ends_at"])},
            .state = row["state"].as<std::string>(),
            .created_at = to_timestamp(row["created_at"]),
            .created_by = row["created_by"].as<std::string>(),
            .cancelled_at = to_optional_timestamp(row["cancelled_at"])};
}

std::vector<AdvanceReservation> select(pqxx::transaction_base& transaction, const std::string& id,
                                       const ReservationFilter& filter, const std::string& after, std::int64_t limit)
{
    std::vector<AdvanceReservation> all;
    for (const pqxx::row& row : exec(transaction, kSelect, id, filter.project, filter.center, filter.is_open_only,
                                     after, limit, filter.reader))
        all.push_back(to_reservation(row));
    return all;
}

} // namespace

void insert_reservation(pqxx::transaction_base& transaction, const NewReservation& reservation,
                        const BookableUnits& units)
{
    exec(transaction, kInsert, reservation.id.value, reservation.project, units.center_id.value,
         units.unit_type_id.value, reservation.unit_count, format_rfc3339(reservation.period.starts_at),
         format_rfc3339(reservation.period.ends_at), reservation.created_by);
}

Page<AdvanceReservation> select_reservations(pqxx::transaction_base& transaction, const ReservationFilter& filter,
                                             std::int64_t size, const std::string& after)
{
    return cut_page(select(transaction, "", filter, after, size + 1), size,
                    [](const AdvanceReservation& one) { return one.id.value; });
}

std::optional<AdvanceReservation> select_reservation(pqxx::transaction_base& transaction, const std::string& id,
                                                     const std::string& reader)
{
    if (id.empty()) return std::nullopt;
    std::vector<AdvanceReservation> found = select(transaction, id, {.reader = reader}, "", 1);
    if (found.empty()) return std::nullopt;
    return std::move(found.front());
}

std::optional<AdvanceReservation> lock_reservation(pqxx::transaction_base& transaction, const std::string& id)
{
    exec(transaction, kLock, id);
    return select_reservation(transaction, id);
}

void update_to_cancelled(pqxx::transaction_base& transaction, const ReservationId& id)
{
    exec(transaction, kCancel, id.value);
}

std::vector<MetReservation> select_met_reservations(pqxx::transaction_base& transaction, const UnitTypeId& unit_type,
                                                    const Period& period)
{
    std::vector<MetReservation> met;
    for (const pqxx::row& row : exec(transaction, kSelectMeeting, unit_type.value, format_rfc3339(period.starts_at),
                                     format_rfc3339(period.ends_at)))
        met.push_back(
            {{row["id"].as<std::string>()}, row["project"].as<std::string>(), row["unit_count"].as<std::int64_t>()});
    return met;
}

OpenReservations count_open_reservations(pqxx::transaction_base& transaction, const UnitTypeId& unit_type,
                                         const std::string& project, const std::string& created_by)
{
    const pqxx::result rows = exec(transaction, kCountOpen, unit_type.value, project, created_by);
    return {.of_unit_type = rows[0]["of_unit_type"].as<std::int64_t>(),
            .of_project = rows[0]["of_project"].as<std::int64_t>(),
            .of_caller = rows[0]["of_caller"].as<std::int64_t>()};
}

std::vector<Booking> select_project_bookings(pqxx::transaction_base& transaction, const std::string& project,
                                             Timestamp from)
{
    std::vector<Booking> bookings;
    for (const pqxx::row& row : exec(transaction, kSelectProjectBookings, project, format_rfc3339(from)))
        bookings.push_back(
            {to_timestamp(row["starts_at"]), to_timestamp(row["ends_at"]), row["unit_count"].as<std::int64_t>()});
    return bookings;
}

ReservationLimits lock_reservation_limits(pqxx::transaction_base& transaction, const std::string& project)
{
    ReservationLimits limits;
    for (const pqxx::row& row : exec(transaction, kLockLimits, project)) {
        limits.max_units = row["max_units"].as<std::int64_t>();
        limits.centers = to_json_value(row["centers"]).get<std::vector<std::string>>();
    }
    return limits;
}

ReservationRight lock_reservation_right(pqxx::transaction_base& transaction, const std::string& project,
                                        const std::string& token_id)
{
    const pqxx::result rows = exec(transaction, kLockRight, project, token_id);
    if (rows.empty()) return {};
    return {.most_unit_hours = rows[0][0].as<double>(),
            .held_unit_hours = exec(transaction, kSumHeld, project, token_id)[0][0].as<double>()};
}

bool have_members(pqxx::transaction_base& transaction)
{
    return exec(transaction, kHaveMembers)[0][0].as<bool>();
}

bool is_known_project(pqxx::transaction_base& transaction, const std::string& project)
{
    return exec(transaction, kFindProject, project)[0][0].as<bool>();
}

std::set<std::string, std::less<>> select_project_names(pqxx::transaction_base& transaction)
{
    std::set<std::string, std::less<>> names;
    for (const pqxx::row& row : exec(transaction, kSelectProjectNames))
        names.insert(row["name"].as<std::string>());
    return names;
}

Json to_json(const AdvanceReservation& reservation)
{
    return {{"id", reservation.id.value},
            {"project", reservation.project},
            {"center_id", reservation.center_id},
            {"center", reservation.center},
            {"unit_type_id", reservation.unit_type_id},
            {"unit_type", reservation.unit_type},
            {"unit_count", reservation.unit_count},
            {"starts_at", format_rfc3339(reservation.period.starts_at)},
            {"ends_at", format_rfc3339(reservation.period.ends_at)},
            {"state", reservation.state},
            {"created_at", format_rfc3339(reservation.created_at)},
            {"created_by", reservation.created_by},
            {"cancelled_at", time_json(reservation.cancelled_at)}};
}

} // namespace fathom::server
