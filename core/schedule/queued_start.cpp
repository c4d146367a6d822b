#include "core/schedule/queued_start.hpp"

#include "core/decide/routing/decision_text.hpp"
#include "core/schedule/decided_places.hpp"
#include "core/schedule/job_start.hpp"

#include <utility>

namespace fathom {

bool may_queue(const CycleTools& tools, const SchedulePlan& plan, std::size_t job, const Decision& decision)
{
    const RouteRequest& request = tools.job(job).request;
    // Of a job without operators nothing is known but what others of its name took.
    if (!tools.input->may_queue || request.operators.empty() || request.units.is_exclusive() ||
        !tools.job(job).gang.empty() || request.is_probe || request.moves_data_itself() || !wants_units(decision))
        return false;
    const Candidate& winner = decision.candidates[*decision.winner];
    const UnitTypeView* const view = tools.ledger->units().find(winner.unit_type_id);
    const auto known = plan.queue_room.find(winner.unit_type_id.value);
    // What is planned on a unit type waits for nobody who is at the center.
    const bool has_room = view != nullptr && view->holds.empty() && view->closures.empty() &&
                          (known == plan.queue_room.end() || known->second > 0);
    return has_room && winner.unit_count == 1 && winner.unknown_parts() == 0 && winner.plan.start_s <= kMaxQueued_s &&
           winner.prediction.high_s <= kMaxQueuedRun_s && winner.correction.job_count >= kMinRunsOfQueued;
}

void queue_job(const CycleTools& tools, std::size_t job, Decision decision, SchedulePlan& plan)
{
    decision.rank_text = "waits for its unit at the center, where it is expected to be free in " +
                         duration_text(decision.candidates[*decision.winner].plan.start_s);
    ScheduledStart& queued = start_job(tools, job, tools.ledger->request_of(tools.job(job)), std::move(decision), plan);
    queued.is_queued = true;
    const UnitTypeId& unit_type = queued.winner.unit_type_id;
    const std::int64_t all = kMaxQueuedPerUnit * tools.ledger->units().find(unit_type)->unit_count;
    --plan.queue_room.try_emplace(unit_type.value, all).first->second;
}

} // namespace fathom
