#include "core/schedule/plan_rest.hpp"

#include "core/schedule/decided_places.hpp"
#include "core/schedule/job_start.hpp"
#include "core/schedule/queued_start.hpp"

#include <utility>

namespace fathom {
namespace {

/// Starts the job if that delays no other; else plans the job at the place that it would choose by itself.
void plan_job(const CycleTools& tools, std::size_t job, FirstLook& look, HeldProbes& held, PlanDraft& draft)
{
    if (draft.planned >= kMaxPlanned) {
        // Less is free than when it was looked at first, so what could not start then cannot start now.
        const std::shared_ptr<const Decision>& seen = look.kinds.decisions.at(tools.job(job).kind);
        if (wants_units(*seen) && !seen->can_start_now) {
            wait_for_winner(tools, {.job = job, .decision = seen}, draft);
            return;
        }
    }
    std::shared_ptr<const Decision> decision = tools.ledger->decide(tools.job(job));
    const bool may_start = decision->winner && decision->can_start_now && decision->quota_obstacle.empty();
    if (may_start && tools.job(job).gang.empty()) {
        Decision own = *decision;
        // It ends before those that go before it need its units.
        if (draft.planned > 0) own.rank_text = "before its turn: it delays no job that goes first";
        const ScheduledStart& made =
            start_job(tools, job, tools.ledger->request_of(tools.job(job)), std::move(own), draft.plan);
        held.note_start(job, made.winner.center_id, look.jobs, draft.plan.waits);
    } else if (may_queue(tools, draft.plan, job, *decision)) {
        queue_job(tools, job, *decision, draft.plan);
    } else {
        wait_for_winner(tools, {.job = job, .decision = std::move(decision)}, draft);
    }
}

/// Plans the job at the place that it waits for. @return false when what is left has no such place.
bool plan_better(const CycleTools& tools, std::size_t job, std::size_t unit_type, PlanDraft& draft)
{
    Decision decision = *tools.ledger->decide(tools.job(job));
    if (!decision.winner || !decision.quota_obstacle.empty()) return false;
    const std::optional<std::size_t> here = free_place(decision);
    const std::optional<std::size_t> there = later_place(decision, tools.places->unit_type(unit_type).id);
    if (!here || !there) return false;
    Candidate left_free = decision.candidates[*here];
    decision.winner = there;
    decision.can_start_now = false;
    wait_for_winner(tools,
                    {.job = job,
                     .decision = std::make_shared<const Decision>(std::move(decision)),
                     .left_free = std::move(left_free)},
                    draft);
    return true;
}

} // namespace

void plan_rest(const CycleTools& tools, const DeferredPlaces& deferred, FirstLook& look, HeldProbes& held,
               PlanDraft& draft)
{
    const OrderCall rest = jobs_to_plan(look.jobs);
    if (rest.jobs.empty()) return;
    for (const std::size_t next : order_waiting(rest.views, tools.places->loads(), tools.input->settings)) {
        const std::size_t job = rest.jobs[next];
        if (look.jobs.is_done[job]) continue; // a probe, since another one of its host started
        look.jobs.is_done[job] = true;
        const auto better = deferred.find(job);
        if (better != deferred.end() && plan_better(tools, job, better->second, draft)) continue;
        plan_job(tools, job, look, held, draft);
    }
}

} // namespace fathom
