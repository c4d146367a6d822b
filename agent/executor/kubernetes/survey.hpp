#pragma once

#include "agent/executor/kubernetes/node_units.hpp"

namespace fathom::agent {

/// Asks the API server for nodes and pods, and this host's probe program for its operators. Blocks. Unit types are as
/// the agent's file says, whatever the network's administrators want; a difference tells them.
/// @error kUnavailable, kForbidden, …  the API server does not answer, or refuses.
Result<CenterOffer> survey_kubernetes(const AgentConfig& config, const Json& executor_facts, const SurveyOrder& order);

/// Asks the API server for nodes and pods. Blocks.
/// @error  as above
Result<Hardware> look_at_kubernetes(const AgentConfig& config);

} // namespace fathom::agent
