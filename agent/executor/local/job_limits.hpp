#pragma once

#include "agent/executor/local/attempt_folder.hpp"

namespace fathom::agent {

/// Processes and threads that a job may have: enough for a thread of each runtime on each core.
std::int64_t most_processes(std::int64_t cores);

/// Sets the limits of this process that hold also where no control groups do, and offers it to the kernel first when
/// memory runs out. Before privileges are dropped.
void limit_resources(const SupervisorOrder& order);

/// No core file and no look at this process's memory: it holds what no job may know, such as the center's key. Other
/// processes of its user can then neither trace it nor follow the links of its /proc folder.
void keep_memory_secret();

} // namespace fathom::agent
