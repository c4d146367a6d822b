#pragma once

#include "core/decide/routing/route_json.hpp"

#include <string>
#include <vector>

namespace fathom {

/// A stored decision, made again from its inputs.
struct Replay {
    RouteInputs inputs;
    Decision decision;
    /// In what the stored one differs: "winner: alpha/core was stored, beta/core came out", for people. Empty: the same
    /// place, count, start, completion, cost and objective.
    std::vector<std::string> differences;
    /// Set when jobs that waited were decided together, and their order put this one elsewhere than route() alone
    /// would: then that place's figures were compared.
    std::string note;
};

/// @param placement  a document with "decision" and "inputs", as GET /jobs/{id}/placement?inputs=true answers.
/// @error kInvalid   it lacks one of them, or its inputs cannot be read
Result<Replay> replay_placement(const Json& placement);

} // namespace fathom
