#include "core/schedule/scheduling.hpp"

#include <algorithm>

/// What becomes of the jobs of a cycle that the order does not start.
namespace fathom {

bool Scheduling::drop_vain_waits(const OrderCall& asked)
{
    deferred_starts_.clear();
    bool has_dropped = false;
    for (const DeferredStart& wait : find_deferred_starts(asked.views, places_.loads(), input_->settings)) {
        const std::size_t job = asked.jobs[wait.job];
        const JobOption& better = asked.views[wait.job].options[wait.option];
        const std::shared_ptr<const Decision> known = decide(job);
        const Decision& decision = *known;
        const std::optional<std::size_t> here = free_place(decision);
        const std::optional<std::size_t> there = later_place(decision, places_.unit_type(better.unit_type).id);
        const std::vector<Candidate>& places = decision.candidates;
        // The order does not know what is kept for others, nor how long starts take there.
        const bool pays = decision.winner && here && there &&
                          places[*there].start.wait_s - places[*here].start.wait_s <= wait.longest_wait_s;
        deferred_starts_.emplace(job, better.unit_type);
        if (pays || !here) continue;
        lose_option(look_.jobs, job, better);
        has_dropped = true;
    }
    return has_dropped;
}

void Scheduling::plan_rest()
{
    const OrderCall rest = jobs_to_plan(look_.jobs);
    if (rest.jobs.empty()) return;
    for (const std::size_t next : order_waiting(rest.views, places_.loads(), input_->settings)) {
        const std::size_t job = rest.jobs[next];
        if (look_.jobs.is_done[job]) continue; // a probe, since another one of its host started
        look_.jobs.is_done[job] = true;
        const auto better = deferred_starts_.find(job);
        if (better != deferred_starts_.end() && plan_better(job, better->second)) continue;
        plan(job);
    }
}

void Scheduling::plan(std::size_t job)
{
    if (planned_ >= kMaxPlanned) {
        // Less is free than when it was looked at first, so what could not start then cannot start now.
        const std::shared_ptr<const Decision>& seen = look_.kinds.decisions.at(jobs_[job].kind);
        if (wants_units(*seen) && !seen->can_start_now) {
            wait_for_winner({.job = job, .decision = seen});
            return;
        }
    }
    std::shared_ptr<const Decision> decision = decide(job);
    const bool may_start = decision->winner && decision->can_start_now && decision->quota_obstacle.empty();
    if (may_start && jobs_[job].gang.empty()) {
        Decision own = *decision;
        // It ends before those that go before it need its units.
        if (planned_ > 0) own.turn = "before its turn: it delays no job that goes first";
        start(job, ledger_.request_of(jobs_[job]), std::move(own));
    } else if (may_queue(job, *decision)) {
        queue(job, *decision);
    } else {
        wait_for_winner({.job = job, .decision = std::move(decision)});
    }
}

bool Scheduling::plan_better(std::size_t job, std::size_t unit_type)
{
    Decision decision = *decide(job);
    if (!decision.winner || !decision.quota_obstacle.empty()) return false;
    const std::optional<std::size_t> here = free_place(decision);
    const std::optional<std::size_t> there = later_place(decision, places_.unit_type(unit_type).id);
    if (!here || !there) return false;
    Candidate left_free = decision.candidates[*here];
    decision.winner = there;
    decision.can_start_now = false;
    wait_for_winner({.job = job,
                     .decision = std::make_shared<const Decision>(std::move(decision)),
                     .left_free = std::move(left_free)});
    return true;
}

void Scheduling::wait_for_winner(ScheduledWait wait)
{
    const Decision& decision = *wait.decision;
    if (wants_units(decision)) {
        wait.waits_for_units = true;
        if (planned_++ < kMaxPlanned) {
            wait.planned = reservation_of(jobs_[wait.job].request, decision.candidates[*decision.winner]);
            keep_free_for(decision.candidates[*decision.winner], *wait.planned);
            ledger_.reserve(*wait.planned);
        }
    }
    plan_.waits.push_back(std::move(wait));
}

void Scheduling::keep_free_for(const Candidate& winner, Reservation& planned) const
{
    const UnitTypeView* const view = ledger_.units().find(winner.unit_type_id);
    if (winner.whole_devices == 0 || view == nullptr) return;
    const double free_s = view->availability.earliest_start(winner.unit_count, winner.held_s());
    planned.from_s = std::min(planned.from_s, free_s);
}

void Scheduling::keep_for_overdue()
{
    std::vector<std::size_t> exclusive;
    for (std::size_t i = 0; i < jobs_.size(); ++i) {
        if (!look_.jobs.is_done[i] && jobs_[i].request.units.is_exclusive() && jobs_[i].gang.empty())
            exclusive.push_back(i);
    }
    if (exclusive.empty()) return;
    const OrderIndices indices = order_indices(look_.jobs.views, places_.loads(), input_->settings);
    for (const std::size_t job : exclusive) {
        if (!indices.jobs[job].is_overdue) continue;
        std::shared_ptr<const Decision> decision = decide(job);
        const bool waits = wants_units(*decision) && !decision->can_start_now;
        if (!waits || decision->candidates[*decision->winner].whole_devices == 0) continue;
        look_.jobs.is_done[job] = true;
        wait_for_winner({.job = job, .decision = std::move(decision)});
    }
}

} // namespace fathom
