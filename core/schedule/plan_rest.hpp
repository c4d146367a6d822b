#pragma once

#include "core/schedule/cycle_tools.hpp"
#include "core/schedule/first_look.hpp"
#include "core/schedule/held_probes.hpp"
#include "core/schedule/plan_draft.hpp"
#include "core/schedule/vain_waits.hpp"

namespace fathom {

/// Plans the jobs that their order did not start, in order of priority rank. Starts those that delay no other; part of
/// core/schedule/schedule.
void plan_rest(const CycleTools& tools, const DeferredPlaces& deferred, FirstLook& look, HeldProbes& held,
               PlanDraft& draft);

} // namespace fathom
