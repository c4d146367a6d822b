#pragma once

#include "server/api/caller.hpp"
#include "server/api/unknown_projects.hpp"
#include "server/calendar/reservation_store.hpp"
#include "server/store/database.hpp"

namespace fathom::server {

/// Units that people reserve in advance for the jobs of a project. Thread-safe. All must outlive it.
///
/// Who may: who manages the network, and members of a project that were given a right to reserve for it, so many units
/// x hours ahead each; within what the project itself may take (its units at once, over all its reservations; its
/// centers), and a project and a caller have so many reservations only. Only who made a reservation, or who may manage
/// the network, cancels it.
class ReservationService {
  public:
    explicit ReservationService(Database& database, UnknownProjects unknown_projects = UnknownProjects::kAccept)
        : database_(&database), unknown_projects_(unknown_projects)
    {
    }

    struct Wanted {
        std::string project;
        std::string center;    ///< id or name
        std::string unit_type; ///< id or name
        std::int64_t unit_count{};
        Period period;
    };
    /// Whose reservations somebody may make: for projects that gave the right to them, or for any.
    enum class Right { kGiven, kAny };
    /// Never more is reserved than there is, maintenance counted. Jobs that run when the reservation begins keep their
    /// units: it gets what is free, and the others as they come back.
    /// @error kInvalid     no such center or unit type, or project where they must exist.
    /// @error kForbidden   the caller was given no right to reserve for the project.
    /// @error kInfeasible  more than the unit type has, or than its project or the caller may take.
    /// @error kConflict    not free for all of the time, or more than its project may hold with what it has reserved
    ///                     already; `fields` say how many are left, and when enough are.
    /// @error kTooMany     the unit type, the project or the caller has very many reservations already, or the caller
    ///                     so many that its unit-hours are used up.
    asio::awaitable<Result<AdvanceReservation>> create(Caller caller, Wanted wanted, Right right);
    asio::awaitable<Result<Page<AdvanceReservation>>> list(ReservationFilter filter, std::int64_t size,
                                                           std::string after);
    /// @param reader  as in ReservationFilter
    /// @error kNotFound  missing, or not the reader's to see
    asio::awaitable<Result<AdvanceReservation>> get(std::string id, std::string reader);

    enum class Whose { kOwn, kAnybodys };
    /// Gives the units free at once; of one that is cancelled already nothing changes.
    /// @error kNotFound   @error kForbidden  somebody else's.   @error kConflict  it has ended.
    asio::awaitable<Result<AdvanceReservation>> cancel(Caller caller, std::string id, Whose whose);

  private:
    Database* database_;
    UnknownProjects unknown_projects_;
};

} // namespace fathom::server
