#pragma once

#include "core/base/json_reader.hpp"

#include <string_view>

namespace fathom::agent {

/// What slurmrestd (v0.0.38) is sent to submit a batch script: it does not read the script's `#SBATCH` lines, so what
/// these ask for stands beside it. The script's environment is PATH, as with sbatch. That Slurm is not to start
/// a job again by itself cannot be said: the cluster has to have JobRequeue=0. Pure.
/// @error kInvalid  a line of the script has no counterpart there, or a value that is not one of its; or the script is
///                  not UTF-8.
Result<Json> rest_submission(std::string_view script);

} // namespace fathom::agent
