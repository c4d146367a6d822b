#pragma once

#include "core/decide/routing/route.hpp"

#include <string>
#include <string_view>
#include <vector>

/// What would have to be otherwise for another place to win, or for one to become possible at all.
namespace fathom {

/// Of the places that a decision kept: by how much a runner-up's queue would have to be shorter, its price lower or its
/// measurements more trusted, or how fast an unmeasured operator would have to be; which deadline or budget would let a
/// place win that only these removed, or, without a winner, become possible; who would win for the fastest, cheapest or
/// greenest, or with another count. Nearest first, at most 8. Each is true of these places: it was decided again with
/// the change, rounded as the text says it, and that place won. Takes some milliseconds: for explanations, not for the
/// router's loop. The decision itself must have been made with these unit types, or more of them.
/// @param unit_types  those of the kept candidates suffice, in any order.
/// @param currency    of the prices; may be empty.
std::vector<Counterfactual> find_counterfactuals(const RouteRequest& request, const Decision& decision,
                                                 const UnitTypeList& unit_types, const RouteKnowledge& knowledge = {},
                                                 std::string_view currency = {});

class DecisionTrial;

/// The same by any trial: each statement was decided again by it.
std::vector<Counterfactual> find_counterfactuals(DecisionTrial& trial, std::string_view currency = {});

} // namespace fathom
