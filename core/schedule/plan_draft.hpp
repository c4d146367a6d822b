#pragma once

#include "core/schedule/cycle_tools.hpp"
#include "core/schedule/schedule.hpp"

#include <cstddef>
#include <vector>

namespace fathom {

/// A start that the order of the jobs has made.
struct OrderedPlace {
    std::size_t start{}; ///< index into the plan's
    bool is_own_choice{};
};

/// What is decided so far; part of core/schedule/schedule.
struct PlanDraft {
    SchedulePlan plan;
    std::vector<OrderedPlace> ordered;
    std::size_t planned = 0; ///< jobs that wait for units
};

/// The job waits for the winner of its decision. If it waits for units, the first kMaxPlanned such jobs have them
/// reserved.
void wait_for_winner(const CycleTools& tools, ScheduledWait wait, PlanDraft& draft);

} // namespace fathom
