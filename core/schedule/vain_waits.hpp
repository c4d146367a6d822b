#pragma once

#include "core/schedule/cycle_jobs.hpp"
#include "core/schedule/cycle_tools.hpp"

#include <cstddef>
#include <map>

namespace fathom {

/// By job: the unit type that it waits for although it fits into what is free, as WantedPlaces numbers it.
using DeferredPlaces = std::map<std::size_t, std::size_t>;

/// Examines the jobs that the order makes wait for better places; part of core/schedule/schedule.
/// @param asked  the jobs that may start; not empty.
/// @param deferred  is set to the places that they wait for.
/// @return true when a wait did not pay, and its place was removed from the job's options.
bool drop_vain_waits(const CycleTools& tools, const OrderCall& asked, CycleJobs& jobs, DeferredPlaces& deferred);

} // namespace fathom
