#pragma once

#include "core/base/id.hpp"
#include "server/calendar/bookable_units.hpp"
#include "server/calendar/period.hpp"
#include "server/store/page.hpp"

#include <optional>
#include <set>
#include <string>
#include <vector>

/// Rows of advance reservations. All functions take the caller's transaction, block, and let pqxx's exceptions through
/// to Database::run.
namespace fathom::server {

struct ReservationKind {
    static constexpr std::string_view kPrefix = "rsv";
};
using ReservationId = Id<ReservationKind>;

/// Units kept for the jobs of one project during some time.
struct AdvanceReservation {
    ReservationId id;
    std::string project;
    std::string center_id;
    std::string center;
    std::string unit_type_id;
    std::string unit_type;
    std::int64_t unit_count{};
    Period period;
    std::string state; ///< "planned", "active", "ended", "cancelled"
    Timestamp created_at{};
    std::string created_by;
    std::optional<Timestamp> cancelled_at;
};

struct ReservationFilter {
    std::string project{};
    std::string center{};     ///< id or name
    bool is_open_only{false}; ///< neither ended nor cancelled
    std::string reader{};     ///< token that sees its own and those of projects it is a member of; empty: sees all
};

struct NewReservation {
    ReservationId id;
    std::string project;
    std::int64_t unit_count{};
    Period period;
    std::string created_by;
};
void insert_reservation(pqxx::transaction_base& transaction, const NewReservation& reservation,
                        const BookableUnits& units);
/// Newest first; `after` is an id.
Page<AdvanceReservation> select_reservations(pqxx::transaction_base& transaction, const ReservationFilter& filter,
                                             std::int64_t size, const std::string& after);
/// @param reader  as in ReservationFilter
std::optional<AdvanceReservation> select_reservation(pqxx::transaction_base& transaction, const std::string& id,
                                                     const std::string& reader = {});
/// The same, and nobody else changes it until the transaction ends.
std::optional<AdvanceReservation> lock_reservation(pqxx::transaction_base& transaction, const std::string& id);
void update_to_cancelled(pqxx::transaction_base& transaction, const ReservationId& id);
/// A reservation that lies in the way.
struct MetReservation {
    ReservationId id;
    std::string project;
    std::int64_t unit_count{};
};
/// Open ones of a unit type that meet the period.
std::vector<MetReservation> select_met_reservations(pqxx::transaction_base& transaction, const UnitTypeId& unit_type,
                                                    const Period& period);
/// How many are open.
struct OpenReservations {
    std::int64_t of_unit_type{};
    std::int64_t of_project{};
    std::int64_t of_caller{};
};
OpenReservations count_open_reservations(pqxx::transaction_base& transaction, const UnitTypeId& unit_type,
                                         const std::string& project, const std::string& created_by);
/// What is open of a project on all unit types, as far as it ends after `from`.
std::vector<Booking> select_project_bookings(pqxx::transaction_base& transaction, const std::string& project,
                                             Timestamp from);

/// What a project may take, as far as it limits reservations.
struct ReservationLimits {
    std::int64_t max_units{};         ///< 0: no limit
    std::vector<std::string> centers; ///< names; empty: all
};
/// Until the transaction ends nobody else reserves for the project, if it has settings. After the locks on unit types,
/// as the router locks them: else the two could deadlock.
ReservationLimits lock_reservation_limits(pqxx::transaction_base& transaction, const std::string& project);
/// What a token may reserve for a project, and holds.
struct ReservationRight {
    double most_unit_hours{}; ///< 0: it may not reserve
    double held_unit_hours{}; ///< of its open reservations, as far as they lie ahead
};
/// Until the transaction ends the token reserves nothing else for the project.
ReservationRight lock_reservation_right(pqxx::transaction_base& transaction, const std::string& project,
                                        const std::string& token_id);
/// Whether any project has members.
bool have_members(pqxx::transaction_base& transaction);
/// It has settings, or jobs.
bool is_known_project(pqxx::transaction_base& transaction, const std::string& project);
/// Of those that have settings.
std::set<std::string, std::less<>> select_project_names(pqxx::transaction_base& transaction);

Json to_json(const AdvanceReservation& reservation);

} // namespace fathom::server
