#pragma once

#include "core/schedule/cycle_jobs.hpp"
#include "core/schedule/cycle_tools.hpp"
#include "core/schedule/plan_draft.hpp"

namespace fathom {

/// Keeps for overdue jobs that share no device the units that they wait for: there may be enough free units and yet no
/// whole device as long as other jobs start on them. Part of core/schedule/schedule.
void keep_for_overdue(const CycleTools& tools, CycleJobs& jobs, PlanDraft& draft);

} // namespace fathom
