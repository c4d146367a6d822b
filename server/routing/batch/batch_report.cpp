#include "server/routing/batch/batch_report.hpp"

namespace fathom::server {

std::vector<Reservation> reservations_of(const std::vector<PlannedUnits>& planned)
{
    std::vector<Reservation> reservations;
    for (const PlannedUnits& units : planned)
        reservations.push_back(units.reservation);
    return reservations;
}

} // namespace fathom::server
