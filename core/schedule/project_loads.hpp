#pragma once

#include "core/schedule/cycle_tools.hpp"

#include <vector>

namespace fathom {

/// Sets what the projects of the jobs count as loaded with (FairShare::load), each job's as if the project's jobs
/// before it had started. Names the projects in the ledger. Part of core/schedule/schedule.
/// @param views  of all jobs of the cycle
void set_project_loads(const CycleTools& tools, std::vector<WaitingJobView>& views);

} // namespace fathom
