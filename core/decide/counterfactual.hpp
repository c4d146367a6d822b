#pragma once

#include "core/decide/route.hpp"

#include <vector>

/// What would have to be otherwise for another place to win, or for one to become possible at all.
namespace fathom {

/// For the runners-up (the nearest first): by how much their queue would have to be shorter, their price lower, or that
/// their measurements would have to be believed; for places that only the deadline or the budget removed: the deadline
/// or budget that would let them in; for other preferences (fastest, cheapest, greenest): who would win. Each is
/// checked: the changed candidate does beat the winner by objective(). At most 8.
std::vector<Counterfactual> find_counterfactuals(const RouteRequest& request, const Decision& decision);

/// Why nothing can run the job, and what can be changed so that something can: "no center can finish before 18:00; the
/// earliest is 18:40 at beta". Empty when there is a winner.
std::string nearest_alternative(const RouteRequest& request, const Decision& decision);

} // namespace fathom
