#pragma once

#include "core/schedule/cycle_jobs.hpp"
#include "core/schedule/cycle_tools.hpp"
#include "core/schedule/held_probes.hpp"
#include "core/schedule/plan_draft.hpp"

#include <vector>

namespace fathom {

/// What starts change. Part of core/schedule/schedule.
struct StartEffects {
    CycleJobs& jobs;
    HeldProbes& held;
    PlanDraft& draft;
};

/// Makes the starts that the order of the jobs names; part of core/schedule/schedule.
/// @param asked  what the order was asked with.
/// @return true when some start could not be made, so that units may be left for other jobs.
bool make_starts(const CycleTools& tools, const OrderCall& asked, const std::vector<OrderedStart>& starts,
                 const StartEffects& effects);

} // namespace fathom
