#pragma once

#include "core/decide/routing/route_table.hpp"

#include <vector>

/// The search for the best places of a job; part of core/decide/routing/route.
namespace fathom {

/// The feasible places in order, the best first, as many as `most`: the first is the winner, whatever `most` is. Behind
/// the wanted ones there may be more that were looked at, and those that deadline or budget removed, in no set order.
struct RouteSearch {
    std::vector<Found> feasible;
    std::vector<Found> removed;
};
RouteSearch find_places(const RouteRequest& request, RouteTable::Impl& table, RouteKind& kind, PlaceChooser& chooser,
                        std::size_t most);

/// Puts places that were looked at in the order in which a search among them alone would have them.
void put_in_order(RouteTable::Impl& table, const RouteKind& kind, std::vector<Found>& places);

/// Deadline and budget of a request against the columns of its kind, which must have them. Refers to both.
class RouteLimits {
  public:
    RouteLimits(const RouteRequest& request, const RouteKind& kind, const PlaceChooser& chooser)
        : completion_s_(kind.completion_s.data()), cost_(kind.cost.data()), left_s_(chooser.left_s()),
          budget_(budget_limit(request.budget))
    {
    }

    /// The filter, kDeadline or kBudget, that is known to remove a unit type which no other removes; kStays: perhaps
    /// none.
    std::uint8_t removing(std::size_t unit_type) const
    {
        if (completion_s_[unit_type] > left_s_) return static_cast<std::uint8_t>(Filter::kDeadline);
        return cost_[unit_type] > budget_ ? static_cast<std::uint8_t>(Filter::kBudget) : RouteKind::kStays;
    }

  private:
    // Not the vectors: their checks would take most of the time of a scan.
    const double* completion_s_;
    const double* cost_;
    double left_s_;
    double budget_;
};

} // namespace fathom
