#pragma once

#include "agent/executor/local/attempt_folder.hpp"

namespace fathom::agent {

/// Processes and threads that a job may have: enough for a thread of each runtime on each core.
std::int64_t most_processes(std::int64_t cores);

/// Sets the limits of this process that hold also where no control groups do, and offers it to the kernel first when
/// memory runs out. Before privileges are dropped.
void limit_resources(const SupervisorOrder& order);

} // namespace fathom::agent
