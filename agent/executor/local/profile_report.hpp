#pragma once

#include "agent/executor/executor.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace fathom::agent {

/// How fathom-profile is called in the job's working folder, before the `--` and the program.
std::vector<std::string> profiler_options(const RunOrder& run);

/// Adds the profile that the job asked for, which fathom-profile left in its working folder, or says why there is none.
void add_profile(AttemptEnd& end, const std::filesystem::path& work);

} // namespace fathom::agent
