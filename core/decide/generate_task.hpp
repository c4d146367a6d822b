#pragma once

#include "core/model/probe_task.hpp"

namespace fathom {

/// M4: a count divided by `ratio`, rounded, at least 1. Golden: 3000, 2000, 1000 at 1000 -> 3, 2, 1; 1 -> 1.
std::int64_t scale_count(std::int64_t count, std::int64_t ratio);

/// The probe task that stands for a job: its operators at their sizes, equal ones joined, counts scaled
/// down by `ratio` (M3, M4, first version). `operators` is not empty.
ProbeTask generate_probe_task(const std::string& name, const std::vector<OperatorUse>& operators,
                              std::int64_t ratio = 1000);

} // namespace fathom
