#pragma once

#include "agent/config/agent_config.hpp"

namespace fathom::agent {

/// The settings `slurm_…`.
std::vector<SettingSpec> slurm_settings();

/// What they say.
/// @error kInvalid  slurmrestd is named, but no file of a token for it, or with what it does not take.
Result<SlurmConfig> read_slurm_settings(const Settings& settings);

} // namespace fathom::agent
