#pragma once

#include "core/decide/measurement/processor_peak.hpp"
#include "core/model/probe_result.hpp"

#include <optional>
#include <span>
#include <string>
#include <vector>

/// Whether the times that a center claims can be true (design: "Trust"). No figure here is the center's own alone: each
/// is held against the metascheduler's clock, against the result itself, or against what hardware can do.
namespace fathom {

/// Seconds of the first executions and of all samples together; what a result accounts for at least.
double accounted_s(const ProbeResult& result);

/// Empty when the parts of a result fit into its `wall_s`; else what does not, for people: samples that took longer
/// than the whole, or numbers of executions that are missing or no positive numbers.
std::string check_sums(const ProbeResult& result);

/// Empty when the time that no part of a result explains is within bounds; else the figures, for people. Explained are
/// the process start, first executions, samples, the executions that warm up before each sample and those that feed
/// others. What remains makes inputs, plans, and verifies: in experiments with every operator 0.03 s to 1.2 s each.
/// The bound is 4 s an operator, 1 s for each GB that an execution moves over the first, since the check of large
/// arrays goes through every element, plus once what is explained. It is wide, for an honest machine may be slow; what
/// it rules out is that nearly all of a long run is hidden.
std::string check_unexplained(const ProbeResult& result);

/// A run's time as the center claims it, and as the metascheduler saw it.
struct ClockedRun {
    double claimed_s{}; ///< wall_s
    double seen_s{};    ///< from the arrival of the report of its start to the arrival of the report of its end
};

/// Whether the center's clock is slower than ours. The difference between what was seen and what is claimed is the
/// way of the reports, the start of a process and its end: tenths of a second, and no share of the run.
///
///  * One run alone: seen − claimed > max(4 s, 0.3 · claimed).
///  * Many: of the newest 8 runs of a unit type, 5 or more, each has seen > 1.25 · claimed + 1 s. Each, because a
///    busy machine delays some reports by more than that, but not all.
///  * The other way: claimed − seen > max(4 s, 0.3 · claimed) for one run: more time than there was.
/// @param runs  of one unit type, oldest first; the last is the one to be judged. Not empty.
/// @return empty when nothing is wrong; else what, for people.
std::string check_clock(std::span<const ClockedRun> runs);

/// What a result says of the hardware that it ran on.
struct ClaimedHardware {
    std::vector<std::string> isa;
    std::int64_t cores{1};
    bool is_gpu{};
    std::int64_t multiprocessors{1}; ///< of a GPU
    std::int64_t gpu_count{1};
};

/// Empty when an operator's rates are possible there (processor_bounds, gpu_bounds); else the figures, for people.
std::string check_rates(const OperatorResult& result, const ClaimedHardware& hardware);

/// Reads what check_rates needs from a result's host facts; facts of another kind than expected count as missing. More
/// than 1 024 multiprocessors a GPU are not believed.
ClaimedHardware claimed_hardware(const ProbeResult& result, std::int64_t gpu_count);

} // namespace fathom
