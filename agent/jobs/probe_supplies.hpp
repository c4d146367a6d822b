#pragma once

#include "agent/config/agent_config.hpp"
#include "agent/executor/executor.hpp"

namespace fathom::agent {

/// Whether the uploaded operators that come with a probe may run here: each file `operator-*.json` of it must be a
/// package that a trusted key signed. Attempts of other jobs bring no operators.
/// @error kInvalid    a file is no operator package.
/// @error kForbidden  its key is not trusted, or its signature is wrong; the detail names file and keys.
Result<void> check_uploads(const AttemptOrder& order, const OperatorTrust& trust);

/// Gives a probe this center's trusted keys as a file and in FATHOM_OPERATOR_KEYS; nothing that came with the order
/// can take their place. Without keys, and for other jobs, that variable is not set.
void pass_trusted_keys(RunOrder& run, const OperatorTrust& trust);

/// Tells a probe where to fetch from over the network, and which authority that server is known by. A data site that
/// the center has set for its probes wins; it is known by the system's authorities. Nothing without a URL.
void pass_fetch_site(RunOrder& run, const std::string& url, const std::string& authority_pem);

/// Tells a probe what it is to measure in FATHOM_RESOURCE_TYPE, where that is not the processors; neither the center
/// nor the order can say otherwise, for the result will stand for this unit type.
void pass_resource_type(RunOrder& run, const std::string& resource_type);

} // namespace fathom::agent
