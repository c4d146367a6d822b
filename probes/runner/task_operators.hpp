#pragma once

#include "probes/runner/run_task.hpp"

#include <functional>
#include <optional>

/// What a task's operators are here, and what they need; part of probes/runner/run_task.
namespace fathom::probes {

/// The operator that a use means: an uploaded one of that version, or the program's own code, described by the
/// task's manifest when the use asks for a version that is not the program's. Empty when there is none.
std::optional<RegisteredOperator> operator_for(const ProbeTask& task, const OperatorUse& use, const Uploads& uploads);

/// Bytes, Σ over the operators of a validated task, for all are kept ready at the same time, and the largest once more:
/// operators that feed others are run in a second instance.
/// @param memory  of RegisteredOperator: on the host or on the device.
double needed_memory(const ProbeTask& task, const RunConditions& conditions,
                     std::function<double(const Parameters&)> RegisteredOperator::* memory);

/// @error kTooLarge  a validated task needs more memory than is usable, on the host or on the device.
Result<void> check_memory(const ProbeTask& task, const RunConditions& conditions);

} // namespace fathom::probes
