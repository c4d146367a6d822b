#pragma once

#include "agent/config/agent_config.hpp"
#include "agent/executor/local/input_cache.hpp"

namespace fathom::agent {

/// What a center that starts without the setting `input_cache_bytes` keeps at most at a Slurm cluster: the file system
/// is not the agent's alone.
inline constexpr std::int64_t kMaxSlurmCacheBytes = 100'000'000'000;

/// Where a center that runs jobs on its own host keeps inputs; a twentieth of the disk where no setting says how much.
InputCachePlace local_input_cache(const AgentConfig& config, const std::filesystem::path& state_dir);

/// Where a Slurm cluster does, for its nodes; likewise, and no more than kMaxSlurmCacheBytes.
/// @param jobs  the folder of the jobs' folders, which may be yet to be made
InputCachePlace slurm_input_cache(const AgentConfig& config, const std::filesystem::path& jobs);

} // namespace fathom::agent
