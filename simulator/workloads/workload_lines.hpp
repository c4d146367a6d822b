#pragma once

#include "simulator/workloads/read_workload.hpp"

#include <istream>

/// Our own format of workloads: one job a line, as JSON (docs/simulation.md, "Workloads").
namespace fathom::simulation {

/// Reads jobs line by line. Lines that cannot be used are left out, each by the name of its first fault; jobs that are
/// not by time are sorted, and counted, too.
/// @error kInvalid  no line can be used, or most cannot: says which is the first and what is wrong with it.
Result<WorkloadInput> read_job_lines(std::istream& input);

} // namespace fathom::simulation
