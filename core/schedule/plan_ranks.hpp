#pragma once

#include "core/schedule/cycle_tools.hpp"
#include "core/schedule/plan_draft.hpp"

#include <span>
#include <vector>

/// What a plan says of the order of its jobs; part of core/schedule/schedule.
namespace fathom {

/// Has the decisions of the ordered starts say their priority rank, unless each job starts where it would go alone.
/// @param views  of all jobs of the cycle, like below
void tell_ranks(const OrderSettings& settings, std::span<const WaitingJobView> views, PlanDraft& draft);

/// Sets the priority ranks of jobs that wait, and sorts the waits by job.
void set_ranks(const CycleTools& tools, std::span<const WaitingJobView> views, std::vector<ScheduledWait>& waits);

} // namespace fathom
