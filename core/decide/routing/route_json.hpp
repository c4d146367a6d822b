#pragma once

#include "core/decide/routing/input_texts.hpp"
#include "core/decide/routing/route.hpp"

#include <string>

/// A decision's inputs as a document, so that it can be made again anywhere: by a test, by an auditor, with a change.
namespace fathom {

/// Of so many unit types the inputs of a decision are kept.
inline constexpr std::size_t kMaxInputsKept = 16;

/// The candidates, as indices into `decision.candidates`, that a decision cannot be made again without, and that could
/// win by a change: the winner and those next to it, the cheapest and the one of least energy, and those that only
/// deadline or budget removed. At most kMaxInputsKept. None that the GPU's threshold removed: on the others the
/// decision is the same without it.
std::vector<std::size_t> telling_candidates(const Decision& decision);

/// The unit types of those candidates, in the same order. Quick where `unit_types` are in order of id.
std::vector<const UnitTypeView*> views_of(const Decision& decision, std::span<const std::size_t> candidates,
                                          const UnitTypeList& unit_types);

/// The request, and the unit types of telling_candidates() with what the request can read of each: measurements and
/// curves of its operators, the network when it moves data, price, free units over time, what history says of it.
/// Call it before the availability changes by the decision. It is a decision on what the GPU's threshold has left, so
/// the request that is read from it does not follow that.
/// @param unit_types  those that were decided on.
Json route_inputs_json(const RouteRequest& request, const UnitTypeList& unit_types, const RouteKnowledge& knowledge,
                       const Decision& decision);

/// The same document, as text: quick where other decisions' inputs had parts of it.
/// @param texts  has those parts, and gets the others
std::string route_inputs_text(const RouteRequest& request, const UnitTypeList& unit_types,
                              const RouteKnowledge& knowledge, const Decision& decision, InputTexts& texts);

struct RouteInputs {
    RouteRequest request;
    std::vector<UnitTypeView> unit_types;
    RouteKnowledge knowledge;
};
/// Reads such a document strictly; route() then makes the same decision of those unit types again.
/// @error kInvalid  every fault at once
Result<RouteInputs> parse_route_inputs(const Json& json);

} // namespace fathom
