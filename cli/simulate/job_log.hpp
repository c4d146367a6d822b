#pragma once

#include "core/base/result.hpp"

#include <cstdint>
#include <istream>
#include <vector>

namespace fathom {

/// A job as a compute center's log tells it.
struct LoggedJob {
    double submit_s{}; ///< from the log's beginning
    double run_s{};
    std::int64_t processors{};
    std::int64_t program{}; ///< number of the executable, where the log has one
};

struct JobLog {
    std::vector<LoggedJob> jobs; ///< by submission
    std::size_t never_ran{};     ///< left out: no run time or no processors
};

/// Reads a log of the Parallel Workloads Archive as CSV, with at least the columns submit_s, run_s, procs, executable.
/// @error kInvalid  a column is missing, a field is no number, or a job was submitted before the one ahead of it; says
///                  which line or job.
Result<JobLog> read_job_log(std::istream& input);

} // namespace fathom
