#pragma once

#include "agent/config/agent_config.hpp"
#include "agent/executor/local/local_executor.hpp"
#include "core/base/own_user.hpp"

namespace fathom::agent {

/// The executor that the settings ask for; says in the log what it does not keep jobs from. `agent` is whom the process
/// that hears the network runs as, which is to be no job's user.
/// @error kInvalid      the settings give it to jobs, or name nobody for them.
/// @error kUnavailable  jobs are not isolated as required.
Result<std::unique_ptr<LocalExecutor>> make_job_executor(const AgentConfig& config,
                                                         const std::optional<UnixUser>& agent);

} // namespace fathom::agent
