#pragma once

#include "core/schedule/cycle_tools.hpp"
#include "core/schedule/first_look.hpp"
#include "core/schedule/held_probes.hpp"
#include "core/schedule/plan_draft.hpp"
#include "core/schedule/vain_waits.hpp"

namespace fathom {

/// Starts the jobs that their order names, until nothing more starts; part of core/schedule/schedule.
/// @return the places that jobs wait for which fit into what is free
DeferredPlaces start_by_order(const CycleTools& tools, FirstLook& look, HeldProbes& held, PlanDraft& draft);

} // namespace fathom
