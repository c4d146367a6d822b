#pragma once

#include "core/schedule/cycle_tools.hpp"
#include "core/schedule/schedule.hpp"

#include <cstddef>

/// Short jobs that go to their center before there is a unit for them; part of core/schedule/schedule.
namespace fathom {

/// Whether a job that cannot start now may wait for the winner's unit at its center.
bool may_queue(const CycleTools& tools, const SchedulePlan& plan, std::size_t job, const Decision& decision);

/// Sends the job to the winner's center, where it waits for its unit.
void queue_job(const CycleTools& tools, std::size_t job, Decision decision, SchedulePlan& plan);

} // namespace fathom
