#pragma once

#include "agent/catalog/catalog.hpp"
#include "agent/config/agent_config.hpp"
#include "agent/executor/executor.hpp"
#include "agent/executor/slurm/slurm_client.hpp"
#include "core/base/own_user.hpp"

namespace fathom::agent {

/// The executor that the settings ask for; says in the log what it does not keep jobs from. `agent` is whom the process
/// that hears the network runs as, which is to be no job's user. `gpu_memory`: the folder of the memory manager's
/// socket, or empty.
/// @error kInvalid      the settings give it to jobs, or name nobody for them.
/// @error kUnavailable  jobs are not isolated as required.
Result<std::unique_ptr<Executor>> make_job_executor(const AgentConfig& config, const std::optional<UnixUser>& agent,
                                                    const std::filesystem::path& gpu_memory);

/// The same for a look at its facts, without folders and without judging.
Result<std::unique_ptr<Executor>> make_described_executor(const AgentConfig& config);

/// What is known of machines from one look to the next. For one thread at a time.
struct MachineNotes {
    SlurmNodeDetails slurm{};
};

/// What the executor's machines offer. Blocks.
/// @error kInvalid      the config does not fit them.
/// @error kUnavailable  Slurm, or the API server, does not answer.
Result<CenterOffer> survey_machines(const AgentConfig& config, const Json& executor_facts, const SurveyOrder& order,
                                    MachineNotes& notes);

/// What may change of them while the agent runs. Blocks.
/// @error kUnavailable  Slurm, or the API server, does not answer.
Result<Hardware> look_at_machines(const AgentConfig& config, MachineNotes& notes);

} // namespace fathom::agent
