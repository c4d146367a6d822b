#pragma once

#include "core/base/result.hpp"

#include <chrono>
#include <optional>
#include <vector>

namespace fathom::probes {

/// The processors that the affinity mask allows, ascending; at least one.
std::vector<int> allowed_cpus();

/// The cores to use: FATHOM_CORES if set, else all that the affinity mask allows; never more than those.
/// @error kInvalid  FATHOM_CORES is not a whole number of at least 1.
Result<int> usable_cores();

/// FATHOM_UNITS: how many units this process stands for; 1 if it is not set.
/// @error kInvalid  it is not a whole number of at least 1.
Result<std::int64_t> unit_count();

/// The least of: memory that the kernel can give without swapping, what the control groups (v1 and v2)
/// leave, and what the process's own limits leave. Bytes.
double usable_memory_bytes();

/// The least that the control groups allow; empty when they set no limit.
std::optional<double> memory_limit_bytes();
/// Processor time a second; empty when they set no limit.
std::optional<double> cpu_quota_cores();

/// When this process started, from /proc/self/stat, which counts in hundredths of a second: the middle
/// of that hundredth is taken, so the error is at most 5 ms. A process that a shell became by `exec`
/// started when the shell did. `main_entered` must be a moment near the start of main, and is the
/// answer where /proc is not to be had.
std::chrono::steady_clock::time_point process_start(std::chrono::steady_clock::time_point main_entered);

} // namespace fathom::probes
