#include "server/calendar/reservation_service.hpp"

#include "core/base/nearest_name.hpp"
#include "server/identity/audit.hpp"
#include "server/store/notifier.hpp"

#include <pqxx/pqxx>

#include <algorithm>
#include <cmath>
#include <ratio>

namespace fathom::server {
namespace {

/// The router lays each of them into its view of the unit type.
constexpr std::int64_t kMaxOpenReservations = 1000;
/// Of one project, and of one caller: nobody takes the whole list of a unit type.
constexpr std::int64_t kMaxOwn = 100;

constexpr const char* kDefaultProject = "default";

std::string in_hours(double unit_hours)
{
    std::string text = Json(std::round(unit_hours * 100) / 100).dump();
    if (text.ends_with(".0")) text.resize(text.size() - 2);
    return text + " unit-hours";
}

double unit_hours_of(const ReservationService::Wanted& wanted)
{
    using Hours = std::chrono::duration<double, std::ratio<3600>>;
    return static_cast<double>(wanted.unit_count) * Hours(wanted.period.ends_at - wanted.period.starts_at).count();
}

std::string counted(std::int64_t units)
{
    return std::to_string(units) + (units == 1 ? " unit" : " units");
}

/// What no other time could change.
std::vector<FieldError> find_limits(const ReservationService::Wanted& wanted, const BookableUnits& units,
                                    const ReservationLimits& limits)
{
    std::vector<FieldError> errors;
    if (wanted.unit_count > units.unit_count)
        errors.push_back({"unit_count", units.center + "/" + units.unit_type + " has " + counted(units.unit_count)});
    if (limits.max_units > 0 && wanted.unit_count > limits.max_units)
        errors.push_back({"unit_count", "project " + wanted.project + " may hold " + counted(limits.max_units)});
    const bool may_use = limits.centers.empty() ||
                         std::find(limits.centers.begin(), limits.centers.end(), units.center) != limits.centers.end();
    if (!may_use) errors.push_back({"center", "project " + wanted.project + " may not use " + units.center});
    return errors;
}

Error unknown_project(pqxx::work& transaction, const std::string& project)
{
    std::set<std::string, std::less<>> known = select_project_names(transaction);
    known.insert(kDefaultProject);
    return Error(
        Errc::kInvalid,
        "reservations must be for a project that there is; an administrator makes one with 'fathom project set NAME'",
        {{"project", "there is no project " + project + name_hint(project, known)}});
}

/// @param what  "of alpha/core": whose units are too few.
Error not_free(const ReservationService::Wanted& wanted, const std::string& what, const BookingCheck& check)
{
    const auto is_are = [](std::int64_t units) { return units == 1 ? " is" : " are"; };
    const std::string next = check.next_start ? format_rfc3339(*check.next_start) : std::string("never");
    const std::string later = check.next_start ? "; " + std::to_string(wanted.unit_count) + is_are(wanted.unit_count) +
                                                     " free for as long from " + next
                                               : std::string();
    Error error(Errc::kConflict, counted(check.free_units) + " " + what + is_are(check.free_units) +
                                     " free for all of that time" + later);
    error.fields.push_back({"unit_count", "at most " + std::to_string(check.free_units) + " then"});
    if (check.next_start) error.fields.push_back({"starts_at", "the next time with enough units is " + next});
    return error;
}

/// What the caller was given, and what is left of it.
Result<void> check_right(pqxx::work& transaction, const Caller& caller, const ReservationService::Wanted& wanted)
{
    const ReservationRight right = lock_reservation_right(transaction, wanted.project, caller.actor);
    if (right.most_unit_hours <= 0)
        return Error(Errc::kForbidden, "you have no right to reserve for project " + wanted.project,
                     {{"project", "an administrator gives it to you with `fathom project member add " + wanted.project +
                                      " " + caller.actor + " --reserve UNIT-HOURS`"}});
    const double hours = unit_hours_of(wanted);
    if (hours > right.most_unit_hours)
        return Error(Errc::kInfeasible, "so much cannot be reserved at any time",
                     {{"unit_count", "these are " + in_hours(hours) + ", and you may hold " +
                                         in_hours(right.most_unit_hours) + " for project " + wanted.project}});
    if (right.held_unit_hours + hours > right.most_unit_hours)
        return Error(Errc::kTooMany, "you hold " + in_hours(right.held_unit_hours) + " of the " +
                                         in_hours(right.most_unit_hours) + " that you may reserve for project " +
                                         wanted.project + "; these are " + in_hours(hours) +
                                         ": cancel some, or wait until they are over");
    return {};
}

Result<void> check_counts(const OpenReservations& open, const std::string& project)
{
    if (open.of_unit_type >= kMaxOpenReservations)
        return Error(Errc::kTooMany,
                     "this unit type has " + std::to_string(kMaxOpenReservations) + " reservations already");
    if (open.of_project >= kMaxOwn)
        return Error(Errc::kTooMany,
                     "project " + project + " has " + std::to_string(kMaxOwn) + " open reservations already");
    if (open.of_caller >= kMaxOwn)
        return Error(Errc::kTooMany, "you have " + std::to_string(kMaxOwn) + " open reservations already");
    return {};
}

/// Against the other reservations of the unit type, then against those of the project. Both are locked.
Result<void> check_free(pqxx::work& transaction, const ReservationService::Wanted& wanted, const BookableUnits& units,
                        const ReservationLimits& limits)
{
    const Booking booking{wanted.period.starts_at, wanted.period.ends_at, wanted.unit_count};
    const std::vector<Booking> booked = select_bookings(transaction, units, booking.from);
    const BookingCheck check = check_booking(units.unit_count, booked, booking);
    if (check.free_units < wanted.unit_count)
        return not_free(wanted, "of " + units.center + "/" + units.unit_type, check);
    if (limits.max_units <= 0) return {};
    const std::vector<Booking> own = select_project_bookings(transaction, wanted.project, booking.from);
    const BookingCheck quota = check_booking(limits.max_units, own, booking);
    if (quota.free_units < wanted.unit_count)
        return not_free(wanted,
                        "of the " + std::to_string(limits.max_units) + " that project " + wanted.project +
                            " may hold at once",
                        quota);
    return {};
}

bool must_exist(pqxx::work& transaction, const std::string& project, UnknownProjects unknown_projects)
{
    if (unknown_projects == UnknownProjects::kAccept || project == kDefaultProject) return false;
    return unknown_projects == UnknownProjects::kRefuse || have_members(transaction);
}

Result<AdvanceReservation> create_in(pqxx::work& transaction, const Caller& caller,
                                     const ReservationService::Wanted& wanted, UnknownProjects unknown_projects,
                                     ReservationService::Right right)
{
    if (must_exist(transaction, wanted.project, unknown_projects) && !is_known_project(transaction, wanted.project))
        return unknown_project(transaction, wanted.project);
    const std::vector<BookableUnits> found = lock_bookable_units(transaction, wanted.center, wanted.unit_type);
    if (found.empty())
        return Error(Errc::kInvalid, "the reservation has 1 error",
                     {{"unit_type", wanted.center + " offers no unit type " + wanted.unit_type}});
    const BookableUnits& units = found.front();
    const ReservationLimits limits = lock_reservation_limits(transaction, wanted.project);
    std::vector<FieldError> errors = find_limits(wanted, units, limits);
    if (!errors.empty()) return Error(Errc::kInfeasible, "so much cannot be reserved at any time", std::move(errors));
    if (right == ReservationService::Right::kGiven) {
        if (const Result<void> checked = check_right(transaction, caller, wanted); !checked) return checked.error();
    }
    const OpenReservations open =
        count_open_reservations(transaction, units.unit_type_id, wanted.project, caller.actor);
    if (const Result<void> checked = check_counts(open, wanted.project); !checked) return checked.error();
    if (const Result<void> checked = check_free(transaction, wanted, units, limits); !checked) return checked.error();
    const NewReservation fresh{ReservationId::make(), wanted.project, wanted.unit_count, wanted.period, caller.actor};
    insert_reservation(transaction, fresh, units);
    audit(transaction, caller.actor, "reservation.create", fresh.id.value, caller.request_id,
          {{"project", fresh.project},
           {"unit_type_id", units.unit_type_id.value},
           {"unit_count", fresh.unit_count},
           {"starts_at", format_rfc3339(fresh.period.starts_at)},
           {"ends_at", format_rfc3339(fresh.period.ends_at)}});
    notify(transaction, "catalog", "");
    return select_reservation(transaction, fresh.id.value).value();
}

Result<AdvanceReservation> cancel_in(pqxx::work& transaction, const Caller& caller, const std::string& id,
                                     ReservationService::Whose whose)
{
    std::optional<AdvanceReservation> reservation = lock_reservation(transaction, id);
    if (!reservation) return Error(Errc::kNotFound, "there is no such reservation");
    if (whose == ReservationService::Whose::kOwn && reservation->created_by != caller.actor)
        return Error(Errc::kForbidden, "somebody else made this reservation");
    if (reservation->state == "cancelled") return std::move(*reservation);
    if (reservation->state == "ended") return Error(Errc::kConflict, "this reservation has ended");
    update_to_cancelled(transaction, reservation->id);
    audit(transaction, caller.actor, "reservation.cancel", id, caller.request_id, {{"project", reservation->project}});
    notify(transaction, "catalog", "");
    return select_reservation(transaction, id).value();
}

} // namespace

asio::awaitable<Result<AdvanceReservation>> ReservationService::create(Caller caller, Wanted wanted, Right right)
{
    auto work = [&](pqxx::work& transaction) {
        return create_in(transaction, caller, wanted, unknown_projects_, right);
    };
    co_return co_await database_->run(std::move(work));
}

asio::awaitable<Result<Page<AdvanceReservation>>> ReservationService::list(ReservationFilter filter, std::int64_t size,
                                                                           std::string after)
{
    auto work = [&](pqxx::work& transaction) -> Result<Page<AdvanceReservation>> {
        return select_reservations(transaction, filter, size, after);
    };
    co_return co_await database_->run(std::move(work));
}

asio::awaitable<Result<AdvanceReservation>> ReservationService::get(std::string id, std::string reader)
{
    auto work = [&](pqxx::work& transaction) -> Result<AdvanceReservation> {
        std::optional<AdvanceReservation> reservation = select_reservation(transaction, id, reader);
        if (!reservation) return Error(Errc::kNotFound, "there is no such reservation");
        return std::move(*reservation);
    };
    co_return co_await database_->run(std::move(work));
}

asio::awaitable<Result<AdvanceReservation>> ReservationService::cancel(Caller caller, std::string id, Whose whose)
{
    auto work = [&](pqxx::work& transaction) { return cancel_in(transaction, caller, id, whose); };
    co_return co_await database_->run(std::move(work));
}

} // namespace fathom::server
