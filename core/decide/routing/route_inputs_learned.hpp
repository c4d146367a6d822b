#pragma once

#include "core/decide/routing/route_inputs_fields.hpp"

#include <functional>
#include <map>
#include <string>
#include <vector>

/// What a decision's inputs say of what was learned; part of core/decide/routing/route_json.
namespace fathom::route_inputs {

/// Of all unit types; what no unit type has stays empty.
struct Learned {
    std::vector<RunAnswer> runs;
    std::map<std::string, WaitModel, std::less<>> waits;
    std::vector<EstimatedOperator> estimates;
    bool has_estimates{};
};

/// Whose runs were learned from, and where.
struct LearnedOf {
    const std::string& job_type;
    const std::string& unit_type; ///< its id
};

/// Reads the fields "run", "wait" and "estimates" of a unit type.
void read_learned(ObjectReader& unit_type, const LearnedOf& of, Learned& learned, Errors& errors);
RouteKnowledge knowledge_of(Learned learned);

} // namespace fathom::route_inputs
