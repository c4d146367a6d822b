#pragma once

#include "core/decide/route_table.hpp"

#include <vector>

/// The search for the best places of a job; part of core/decide/route.
namespace fathom {

/// A unit type that was looked at closely.
struct Found {
    std::uint32_t unit_type{}; ///< index
    PlaceChoice choice;
};

/// The feasible places in order, the best first, as many as `most`: the first is the winner, whatever `most` is. Behind
/// the wanted ones there may be more that were looked at, and those that deadline or budget removed, in no set order.
struct RouteSearch {
    std::vector<Found> feasible;
    std::vector<Found> removed;
};
RouteSearch find_places(const RouteRequest& request, RouteTable::Impl& table, const RouteKind& kind,
                        PlaceChooser& chooser, std::size_t most);

/// The filter, kDeadline or kBudget, that is known to remove a unit type which no other removes; kStays: perhaps none.
std::uint8_t limit_that_removes(const RouteRequest& request, const RouteKind& kind, const PlaceChooser& chooser,
                                std::size_t unit_type);

} // namespace fathom
