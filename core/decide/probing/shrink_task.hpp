#pragma once

#include "core/decide/probing/generate_task.hpp"

#include <optional>

namespace fathom {

/// A task of the same operators whose executions take at most `share` of the task's work together, for a task that took
/// too long: again and again the operator with most work goes down to the next size class of its manifest below its
/// size, executed once. What is computed from others' outputs, and what has no smaller class, stays as it is.
/// @param share  above 0 and below 1.
/// @return empty when nothing can be made smaller; else as near to `share` as it goes.
std::optional<ProbeTask> shrink_task(const ProbeTask& task, double share, const ManifestLookup& manifests);

} // namespace fathom
