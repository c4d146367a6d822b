#include "core/schedule/schedule.hpp"

#include "core/schedule/cycle_tools.hpp"
#include "core/schedule/first_look.hpp"
#include "core/schedule/held_probes.hpp"
#include "core/schedule/overdue_devices.hpp"
#include "core/schedule/plan_draft.hpp"
#include "core/schedule/plan_ranks.hpp"
#include "core/schedule/plan_rest.hpp"
#include "core/schedule/project_loads.hpp"
#include "core/schedule/start_by_order.hpp"

#include <utility>

namespace fathom {

SchedulePlan schedule(UnitLedger& units, const ScheduleInput& input)
{
    DecidedLedger ledger(units, input);
    WantedPlaces places(units, input.loads->busy_shares, input.loads->shadow_prices);
    const CycleTools tools{&input, &ledger, &places};
    FirstLook look = look_at_jobs(tools);
    PlanDraft draft;
    draft.plan.waits = std::move(look.waits);
    draft.plan.queue_room = input.queue_room;
    HeldProbes held(input, look.kinds);
    held.hold(look.jobs, draft.plan.waits);
    places.weigh(look.jobs.views);
    set_project_loads(tools, look.jobs.views);
    keep_for_overdue(tools, look.jobs, draft);
    const DeferredPlaces deferred = start_by_order(tools, look, held, draft);
    plan_rest(tools, deferred, look, held, draft);
    tell_ranks(input.settings, look.jobs.views, draft);
    // As soon as their host is free probes are in line like all others.
    held.give_back(look.jobs.views);
    set_ranks(tools, look.jobs.views, draft.plan.waits);
    return std::move(draft.plan);
}

} // namespace fathom
