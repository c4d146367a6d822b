#include "core/schedule/job_start.hpp"

#include "core/schedule/decided_places.hpp"

#include <algorithm>
#include <utility>

namespace fathom {
ScheduledStart& start_job(const CycleTools& tools, std::size_t job, const RouteRequest& request, Decision decision,
                          SchedulePlan& plan)
{
    DecidedLedger& ledger = *tools.ledger;
    ScheduledStart start{job, std::move(decision), {}, {}, {}};
    start.winner = start.decision.candidates[*start.decision.winner];
    // As it was decided on, before its own units are taken.
    if (!request.is_probe) start.inputs = ledger.inputs_of(request, start.decision);
    const double run_s = start.winner.prediction.run_s;
    ledger.start(request, start.winner,
                 tools.input->may_queue ? std::max(run_s, kMinHeldWithQueue_s) : start.winner.held_s());
    return plan.starts.emplace_back(std::move(start));
}

bool start_at(const CycleTools& tools, std::size_t job, const JobOption& option, PlanDraft& draft)
{
    DecidedLedger& ledger = *tools.ledger;
    const UnitTypeView& unit_type = tools.places->unit_type(option.unit_type);
    RouteRequest request = ledger.request_of(tools.job(job));
    Decision decision = *ledger.decide(tools.job(job));
    if (!decision.winner || !decision.quota_obstacle.empty()) return false;
    const auto is_there = [&](const Candidate& one) {
        return one.unit_type_id == unit_type.id && (one.feasible || is_set_aside(one));
    };
    const auto place = static_cast<std::size_t>(
        std::find_if(decision.candidates.begin(), decision.candidates.end(), is_there) - decision.candidates.begin());
    const bool is_own_choice = place == *decision.winner && decision.can_start_now &&
                               decision.candidates[place].unit_count == option.unit_count;
    if (!is_own_choice) {
        // The order's choice, not the job's own: what it is decided by again must say so.
        request.units.center = unit_type.center_id.value;
        request.units.type = unit_type.id.value;
        request.units.count = option.unit_count;
        Decision there = ledger.decide(request);
        if (!there.winner || !there.can_start_now || !there.quota_obstacle.empty()) return false;
        if (place < decision.candidates.size()) {
            if (is_set_aside(decision.candidates[place])) take_back(decision, place);
            decision.candidates[place] = there.candidates[*there.winner];
            put_first(decision, place);
        } else {
            decision = std::move(there);
        }
    }
    draft.ordered.push_back({draft.plan.starts.size(), is_own_choice});
    start_job(tools, job, request, std::move(decision), draft.plan);
    return true;
}

} // namespace fathom
