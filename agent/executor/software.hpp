#pragma once

#include "agent/config/agent_config.hpp"
#include "core/model/job_software.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace fathom::agent {

/// What software a center's machines have for jobs. Where a batch system places them, all its nodes are to have it at
/// the same paths as this host.
struct SoftwarePlace {
    std::filesystem::path modules_file;      ///< that defines `module` for a bash that reads it; empty: no modules
    std::filesystem::path container_program; ///< apptainer, singularity or podman; empty: no containers

    SoftwareKinds kinds() const { return {.modules = !modules_file.empty(), .containers = !container_program.empty()}; }
};

/// As the settings say, or as this host has it. Blocks.
SoftwarePlace find_software(const SoftwareConfig& config);

/// The fact `software`, by which jobs find the center.
Json software_facts(const SoftwarePlace& place);

/// What stands before the words of a command so that it finds its modules and runs in its container, in the working
/// folder that it is started in: bash with a line of its own. Empty where the job needs nothing. Where modules cannot
/// be loaded, the command is not run, and the exit code is 127. Pure.
/// @param has_gpus  the container is given the host's driver
/// @error kInfeasible  the center has not what the job needs.
Result<std::vector<std::string>> software_words(const JobSoftware& software, const SoftwarePlace& place, bool has_gpus);

} // namespace fathom::agent
