#pragma once

#include "core/model/probe_result.hpp"

#include <chrono>
#include <span>
#include <string>
#include <vector>

/// Several copies of a probe side by side, each a process of its own on an equal part of the processors (M19,
/// throughput): what neighbours cost that do the same.
namespace fathom::probes {

/// The processors of each copy: as many for one as for another, in order; what is left over is nobody's. Pure.
/// @param cpus    those of one unit beside each other (sorted_by_core).
/// @param copies  at least 1.
/// @error kInvalid  there are more copies than processors.
Result<std::vector<std::vector<int>>> divide_cpus(std::span<const int> cpus, int copies);

/// One result of all: that of the first copy, with the others' as its `copies`, without what they say of the host.
/// @param wall_s  from the start of the first process to the end of the last.
ProbeResult join_results(std::vector<ProbeResult> results, double wall_s);

/// How the copies ended.
struct EndedCopies {
    int exit_code{};                  ///< of the first that failed; 0: none did
    std::vector<ProbeResult> results; ///< of each, where none did
};

/// Runs this program again, so many times at once, and waits for all. When one fails, the others are ended. What they
/// write to standard error is written there. Blocks.
/// @param arguments  for each of them.
/// @error kInvalid      more copies than processors.
/// @error kUnavailable  the system refuses a process or memory.
/// @error kInternal     a copy that did not fail printed something else than a result.
Result<EndedCopies> run_copies(int copies, const std::vector<std::string>& arguments);

/// For a copy: it ends when its starter does.
void end_with_starter();

} // namespace fathom::probes
