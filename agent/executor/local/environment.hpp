#pragma once

#include "agent/executor/executor.hpp"

namespace fathom::agent {

/// Where a job finds itself.
struct JobPlace {
    std::string work;     ///< working folder, HOME and TMPDIR
    std::string programs; ///< folder of fathom-probe, last in PATH
    std::string user;
    std::string gpu_memory{}; ///< folder of the memory manager's socket; empty: none
};

/// The environment of a job: a small clean base, what it holds (FATHOM_UNITS, FATHOM_CORES and the thread
/// counts of the numerical libraries), the center's variables, then the user's, each winning over the ones
/// before. Nothing of the agent's own environment. A job that states FATHOM_PRECISION_RANGE is told the files of
/// its precision (attempt_folder.hpp). Where the center has a memory manager, or its variables have FATHOM_GPU_SOCKET,
/// a job with GPUs is given libfathom-gpu.so and its hook for PyTorch, from the folder of fathom-probe. Pure.
std::map<std::string, std::string> job_environment(const RunOrder& run, const JobPlace& place);

} // namespace fathom::agent
