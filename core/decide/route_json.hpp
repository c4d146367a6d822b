#pragma once

#include "core/decide/route.hpp"

/// A decision's inputs as a document, so that it can be made again anywhere: by a test, by an auditor, with a change.
namespace fathom {

/// The request and those unit types that the decision kept as candidates, each with what the request can read of it.
/// @param unit_types  all of the snapshot.
Json route_inputs_json(const RouteRequest& request, std::span<const UnitTypeView> unit_types,
                       const RouteKnowledge& knowledge, const Decision& decision);

struct RouteInputs {
    RouteRequest request;
    std::vector<UnitTypeView> unit_types;
    RouteKnowledge knowledge;
};
/// @error kInvalid
Result<RouteInputs> parse_route_inputs(const Json& json);

} // namespace fathom
