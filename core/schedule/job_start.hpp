#pragma once

#include "core/schedule/cycle_tools.hpp"
#include "core/schedule/plan_draft.hpp"
#include "core/schedule/schedule.hpp"

#include <cstddef>

/// The start of one job, whose units are taken in the ledger; part of core/schedule/schedule.
namespace fathom {

/// Starts the job at the winner of its decision.
/// @param request  of the job, as it was decided on
ScheduledStart& start_job(const CycleTools& tools, std::size_t job, const RouteRequest& request, Decision decision,
                          SchedulePlan& plan);

/// Starts the job where the order of the jobs puts it. @return false when that is not possible on the ledger as it is;
/// nothing has changed then.
bool start_at(const CycleTools& tools, std::size_t job, const JobOption& option, PlanDraft& draft);

} // namespace fathom
