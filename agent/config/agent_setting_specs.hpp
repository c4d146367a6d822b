#pragma once

#include "core/base/settings.hpp"

#include <filesystem>
#include <string>
#include <vector>

/// What the agent can be set: names, defaults, explanations and checks. Those of Slurm and of Kubernetes are in
/// slurm_settings.hpp and kubernetes_settings.hpp.
namespace fathom::agent {

/// Where the agent and its jobs are, and as whom.
std::vector<SettingSpec> place_settings(bool needs_state_dir);
/// What comes to jobs, and what they leave.
std::vector<SettingSpec> staging_settings();
/// What jobs may do and have.
std::vector<SettingSpec> limit_settings();
/// What runs jobs, and what else the agent does.
std::vector<SettingSpec> run_settings();

/// The folders of a setting that names several, with commas between them.
std::vector<std::filesystem::path> split_folders(const std::string& text);

} // namespace fathom::agent
