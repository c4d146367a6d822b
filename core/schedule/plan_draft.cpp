#include "core/schedule/plan_draft.hpp"

#include "core/schedule/decided_places.hpp"

#include <algorithm>
#include <utility>

namespace fathom {
namespace {

/// Keeps as many units as the job needs as soon as units are free, on whichever devices: other jobs then leave whole
/// devices free, since centers first fill devices that are in use in part.
void keep_free_for(const UnitLedger& units, const Candidate& winner, Reservation& planned)
{
    const UnitTypeView* const view = units.find(winner.unit_type_id);
    if (winner.whole_devices == 0 || view == nullptr) return;
    const double free_s = view->availability.earliest_start(winner.unit_count, winner.held_s());
    planned.from_s = std::min(planned.from_s, free_s);
}

} // namespace

void wait_for_winner(const CycleTools& tools, ScheduledWait wait, PlanDraft& draft)
{
    const Decision& decision = *wait.decision;
    if (wants_units(decision)) {
        wait.waits_for_units = true;
        if (draft.planned++ < kMaxPlanned) {
            wait.planned = reservation_of(tools.job(wait.job).request, decision.candidates[*decision.winner]);
            keep_free_for(tools.ledger->units(), decision.candidates[*decision.winner], *wait.planned);
            tools.ledger->reserve(*wait.planned);
        }
    }
    draft.plan.waits.push_back(std::move(wait));
}

} // namespace fathom
