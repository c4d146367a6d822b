#pragma once

#include "core/decide/routing/route.hpp"

#include <memory>
#include <vector>

/// What a decision's inputs say of one unit type; part of core/decide/routing/route_json.
namespace fathom::route_inputs {

/// What is of this unit type and decision: what it is, what is free there, what history says of the job there.
/// @param decided  the correction that the decision was made by; nullptr where it came to none
Json own_members(const RouteRequest& request, const UnitTypeView& view, const RouteKnowledge& knowledge,
                 const RunCorrection* decided);

/// A member that other decisions have as well: long lists, which decisions only read.
struct SharedMember {
    const char* name = "";
    std::shared_ptr<const void> source; ///< what it is made of; nullptr: nothing
    bool is_by_operators{};             ///< it tells those operators that the request reads, else all
    Json (*json)(const RouteRequest&, const UnitTypeView&) = nullptr;
};
std::vector<SharedMember> shared_members(const RouteRequest& request, const UnitTypeView& view);

} // namespace fathom::route_inputs
