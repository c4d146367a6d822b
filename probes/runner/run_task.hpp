#pragma once

#include "core/model/probe_result.hpp"
#include "probes/operators/registry.hpp"
#include "probes/runner/copies_in_step.hpp"

#include <chrono>
#include <functional>

namespace fathom::probes {

/// Makes the inputs of tasks without a seed: always the same.
inline constexpr std::uint64_t kInputSeed = 20261120;

/// Operators that came with the task; each id and version once.
using Uploads = std::vector<RegisteredOperator>;

/// What the runner knows about its process.
struct RunConditions {
    std::chrono::steady_clock::time_point process_start;
    int cores{1};
    std::int64_t unit_count{1};
    double usable_memory_bytes{};
    double usable_device_memory_bytes{}; ///< of the device in use, if any
    /// Told what happens next ("sample 3 of 7 of dgemm(…)"), never inside a timed part. May be empty.
    std::function<void(const std::string&)> progress;
    Uploads uploads{};
    CopiesInStep* copies = nullptr; ///< with which other copies of it run side by side; nullptr: it runs by itself
};

/// Finds every operator and completes its parameters, by the task's manifest of its version if it brings one.
/// An uploaded operator goes before this program's own of the same id and version.
/// @error kInvalid  unknown operators, versions or parameters, values out of range: all of them.
Result<ProbeTask> validate_task(ProbeTask task, const Uploads& uploads = {});

/// Runs a validated task: every operator is prepared and executed once; operators that compute on others'
/// results get the means of those (M5); then samples are taken in
/// turn, one of each operator, `repeats` times round, so that a disturbance of the machine hits all
/// operators and not one; then, on several cores and while there is time, what programs compute in threads of their own
/// is measured with one thread; then further rounds go over those whose median is not known within the task's target,
/// until its sample budget is spent or the limit comes near; then results are verified. A wrong result is reported as
/// such, not refused.
/// One of several copies takes exactly `repeats` samples, or as many down to three as there is time for, each begun
/// when all copies are ready for it, of one instance; before these the first copy takes as many while the others stand
/// still
/// (`alone`), and, while there is time, it is measured in turn with bubbles (MemoryPressure). Nothing is measured with
/// one thread then. Blocks. Fills everything but `wall_s`; of `host` only "disturbance".
/// @error kTooLarge     the operators need more memory than is usable, on the host or on the device.
/// @error kDeadline     after the first executions it is clear that the limit will not be kept.
/// @error kUnavailable  a library refuses an operator.
/// @error kForbidden    an uploaded operator misbehaved; the detail says which and how.
Result<ProbeResult> run_task(const ProbeTask& task, const RunConditions& conditions);

} // namespace fathom::probes
