#include "server/routing/page_decisions.hpp"

#include "core/decide/order_index.hpp"
#include "core/decide/route_json.hpp"
#include "server/routing/project_uses.hpp"
#include "server/routing/waiting_views.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>
#include <unordered_map>

namespace fathom::server {
namespace {

/// Turns move in steps, so that they need not be written at each look.
constexpr double kTurnsPerDoubling = 4;
constexpr double kMiddleTurn = 1000;
constexpr double kFirstTurn = 1;

bool waits_for_window(const Decision& decision)
{
    return decision.winner && decision.candidates[*decision.winner].plan.window.has_value();
}

/// It takes units as soon as there are some.
bool wants_units(const Decision& decision)
{
    return decision.winner && decision.quota_obstacle.empty() && !waits_for_window(decision);
}

/// Nothing can run it now, but what other jobs take may be the reason.
bool may_be_crowded_out(const Decision& decision)
{
    return std::any_of(decision.candidates.begin(), decision.candidates.end(), [](const Candidate& candidate) {
        return candidate.removed_by == Filter::kDeadline || candidate.removed_by == Filter::kBudget;
    });
}

std::string turn_text(std::size_t position, std::size_t count, const OrderSettings& settings)
{
    return "no. " + std::to_string(position) + " of " + std::to_string(count) +
           " waiting jobs that were decided together, by " + std::string(to_string(settings.rule));
}

/// Makes the candidate at `place` the winner, where the order of the jobs put it.
void put_first(Decision& decision, std::size_t place)
{
    decision.winner = 0;
    decision.can_start_now = true;
    if (place == 0) return;
    Candidate& alone = decision.candidates.front();
    alone.reason = "would be chosen if the job were alone; left to jobs that it suits better, or that go first";
    const auto begin = decision.candidates.begin();
    std::rotate(begin, begin + static_cast<std::ptrdiff_t>(place), begin + static_cast<std::ptrdiff_t>(place) + 1);
    decision.candidates.front().reason = "the best use of what is free for all jobs that wait";
}

} // namespace

PageOutcome PageDecisions::decide(std::span<const ReadyJob> jobs)
{
    if (std::optional<PageOutcome> outcome = decide_one_by_one(jobs)) return std::move(*outcome);
    return decide_together(jobs);
}

RouteRequest PageDecisions::with_use(const ReadyJob& job) const
{
    RouteRequest request = job.request;
    const auto found = projects_.quota_uses.find(request.project);
    if (found != projects_.quota_uses.end()) request.used = found->second;
    return request;
}

Decision PageDecisions::decide_now(const RouteRequest& request)
{
    return ledger_->decide(request);
}

Reservation PageDecisions::reservation_of(const ReadyJob& job, const Candidate& winner) const
{
    return {winner.unit_type_id, winner.unit_count, winner.wait_s + winner.held_s(), winner.wait_s,
            job.request.project};
}

void PageDecisions::start(const ReadyJob& job, std::size_t index, const RouteRequest& request, Decision decision)
{
    DecidedStart start{index, std::move(decision), {}, {}};
    start.winner = start.decision.candidates[*start.decision.winner];
    // As it was decided on, before its own units are taken.
    if (!request.is_probe)
        start.inputs = route_inputs_json(request, ledger_->views(), knowledge_, start.decision).dump();
    ledger_->reserve(reservation_of(job, start.winner));
    if (!request.is_probe) {
        add_units(projects_.uses, {request.project, start.winner.unit_type_id.value, start.winner.unit_count});
        const UnitTypeView* view = ledger_->find(start.winner.unit_type_id);
        add(projects_.quota_uses[request.project], use_of(start.winner, view == nullptr ? 0 : view->score));
    }
    outcome_.starts.push_back(std::move(start));
}

std::optional<PageOutcome> PageDecisions::decide_one_by_one(std::span<const ReadyJob> jobs)
{
    const Projects before = projects_;
    outcome_ = {};
    ledger_->begin_trial();
    for (std::size_t i = 0; i < jobs.size(); ++i) {
        const RouteRequest request = with_use(jobs[i]);
        Decision decision = decide_now(request);
        note_arrival(jobs[i], decision);
        const bool is_crowded = !decision.winner ? may_be_crowded_out(decision)
                                : !decision.quota_obstacle.empty()
                                    ? true
                                    : !decision.can_start_now && !waits_for_window(decision);
        const bool breaks_gang = !jobs[i].gang.empty() && !decision.can_start_now;
        if (is_crowded || breaks_gang) {
            ledger_->undo_trial();
            projects_ = before;
            return std::nullopt;
        }
        if (decision.winner && decision.can_start_now)
            start(jobs[i], i, request, std::move(decision));
        else
            outcome_.waits.push_back({.job = i, .decision = std::move(decision), .turn = kLastTurn});
    }
    ledger_->keep_trial();
    return std::move(outcome_);
}

PageOutcome PageDecisions::decide_together(std::span<const ReadyJob> jobs)
{
    outcome_ = {};
    is_done_.assign(jobs.size(), false);
    is_refused_.assign(jobs.size(), false);
    view_all(jobs);
    load_projects(jobs);
    start_in_order(jobs);
    plan_rest(jobs);
    set_turns();
    return std::move(outcome_);
}

void PageDecisions::view_all(std::span<const ReadyJob> jobs)
{
    std::unordered_map<std::string, std::size_t> index;
    for (std::size_t i = 0; i < ledger_->views().size(); ++i)
        index.emplace(ledger_->views()[i].id.value, i);
    // Nothing is reserved meanwhile, so equal jobs have equal places.
    std::map<std::string, Decision> by_kind;
    views_.assign(jobs.size(), {});
    for (std::size_t i = 0; i < jobs.size(); ++i) {
        const ReadyJob& job = jobs[i];
        const RouteRequest request = with_use(job);
        auto known = by_kind.find(job.kind);
        if (known == by_kind.end()) known = by_kind.emplace(job.kind, decide_now(request)).first;
        const Decision& decision = known->second;
        WaitingJobView& view = views_[i];
        view.id = job.id;
        view.waited_s = job.waited_s;
        view.priority = job.priority;
        view.gang = job.gang;
        view.gang_size = job.gang_size;
        if (wants_units(decision)) view.options = options_of(request, decision, index);
        note_arrival(job, decision);
        is_done_[i] = view.options.empty();
        if (is_done_[i]) outcome_.waits.push_back({.job = i, .decision = decision, .turn = kLastTurn});
    }
    assume_run_times(views_);
    worths_ = worths_for(views_, ledger_->views(), arrived_->worths(ledger_->views()));
    busy_shares_.clear();
    for (const UnitTypeView& view : ledger_->views())
        busy_shares_.push_back(busy_->load(view.id.value));
    for (std::size_t i = 0; i < jobs.size(); ++i) {
        const TransferRequest& transfer = jobs[i].request.transfer;
        if (!transfer.deadline || views_[i].options.empty()) continue;
        views_[i].latest_start_s =
            Seconds(*transfer.deadline - transfer.now).count() - shortest_run_s(views_[i].options);
    }
}

void PageDecisions::note_arrival(const ReadyJob& job, const Decision& decision)
{
    if (job.request.is_probe || !wants_units(decision) || !arrived_->is_new(job.id)) return;
    std::vector<ArrivedJobs::Place> places;
    for (const Candidate* place : wanted_places(job.request, decision)) {
        if (place->prediction.run_s > 0)
            places.push_back({place->unit_type_id.value, place->unit_count, place->prediction.run_s});
    }
    arrived_->note(job.id, std::move(places));
}

void PageDecisions::load_projects(std::span<const ReadyJob> jobs)
{
    std::vector<std::size_t> order;
    for (std::size_t i = 0; i < jobs.size(); ++i) {
        // Probes are the network's own: no project's load counts for them.
        if (!views_[i].options.empty() && !jobs[i].request.is_probe) order.push_back(i);
    }
    std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
        return std::tie(jobs[b].priority, jobs[a].id) < std::tie(jobs[a].priority, jobs[b].id);
    });
    std::vector<UnitTypeSize> sizes;
    for (const UnitTypeView& view : ledger_->views())
        sizes.push_back({view.id.value, view.unit_count});
    std::vector<PlannedTake> takes;
    for (const std::size_t job : order) {
        const JobOption& best = views_[job].options.front();
        takes.push_back({jobs[job].request.project, sizes[best.unit_type].unit_type, best.unit_count});
        // So that its share counts, also when it has used nothing yet.
        add_units(projects_.uses, {jobs[job].request.project, {}, 0});
    }
    const std::vector<double> loads = progressive_loads(projects_.uses, sizes, takes);
    for (std::size_t i = 0; i < order.size(); ++i)
        views_[order[i]].fair_load = loads[i];
}

std::vector<UnitTypeLoad> PageDecisions::loads_now() const
{
    std::vector<UnitTypeLoad> loads = unit_type_loads(ledger_->views());
    for (std::size_t type = 0; type < loads.size(); ++type) {
        loads[type].worth = worths_[type];
        loads[type].load = busy_shares_[type];
    }
    return loads;
}

void PageDecisions::start_in_order(std::span<const ReadyJob> jobs)
{
    for (bool has_more = true; has_more;) {
        std::vector<std::size_t> view_jobs;
        std::vector<WaitingJobView> views;
        for (std::size_t i = 0; i < jobs.size(); ++i) {
            if (is_done_[i] || is_refused_[i]) continue;
            view_jobs.push_back(i);
            views.push_back(views_[i]);
        }
        if (views.empty()) return;
        has_more = make_starts(jobs, view_jobs, views, order_starts(views, loads_now(), settings_));
    }
}

bool PageDecisions::make_starts(std::span<const ReadyJob> jobs, const std::vector<std::size_t>& view_jobs,
                                const std::vector<WaitingJobView>& views, const std::vector<OrderedStart>& starts)
{
    // Of a gang all or none: its members start in one go, wherever the first of them stands.
    std::map<std::string, std::vector<OrderedStart>> gangs;
    for (const OrderedStart& one : starts) {
        if (!views[one.job].gang.empty()) gangs[views[one.job].gang].push_back(one);
    }
    const std::size_t waiting = static_cast<std::size_t>(
        std::count_if(views_.begin(), views_.end(), [](const WaitingJobView& view) { return !view.options.empty(); }));
    bool has_refused = false;
    std::set<std::string> seen;
    for (const OrderedStart& one : starts) {
        const std::string& gang = views[one.job].gang;
        if (!gang.empty() && !seen.insert(gang).second) continue;
        const std::vector<OrderedStart> group = gang.empty() ? std::vector<OrderedStart>{one} : gangs.at(gang);
        const std::size_t started = outcome_.starts.size();
        // A single start that is not made has changed nothing.
        std::optional<Projects> before;
        if (!gang.empty()) {
            before = projects_;
            ledger_->begin_trial();
        }
        const bool is_started = std::all_of(group.begin(), group.end(), [&](const OrderedStart& member) {
            return start_at(jobs, view_jobs[member.job], views[member.job].options[member.option],
                            turn_text(outcome_.starts.size() + 1, waiting, settings_));
        });
        if (before && is_started) {
            ledger_->keep_trial();
        } else if (before) {
            ledger_->undo_trial();
            projects_ = std::move(*before);
            outcome_.starts.resize(started);
        }
        has_refused = has_refused || !is_started;
        for (const OrderedStart& member : group)
            (is_started ? is_done_ : is_refused_)[view_jobs[member.job]] = true;
    }
    return has_refused;
}

bool PageDecisions::start_at(std::span<const ReadyJob> jobs, std::size_t job, const JobOption& option, std::string turn)
{
    const UnitTypeId& unit_type = ledger_->views()[option.unit_type].id;
    RouteRequest request = with_use(jobs[job]);
    Decision decision = decide_now(request);
    if (!decision.winner || !decision.quota_obstacle.empty()) return false;
    std::size_t place = decision.candidates.size();
    for (std::size_t i = 0; i < decision.candidates.size(); ++i) {
        const Candidate& candidate = decision.candidates[i];
        if (candidate.unit_type_id == unit_type && candidate.feasible && candidate.plan.start_s <= 0) place = i;
    }
    if (place != *decision.winner || !decision.can_start_now) {
        // The order's choice, not the job's own: what it is decided by again must say so.
        request.units.center = ledger_->views()[option.unit_type].center_id.value;
        request.units.type = unit_type.value;
        request.units.count = option.unit_count;
        Decision there = decide_now(request);
        if (!there.winner || !there.can_start_now || !there.quota_obstacle.empty()) return false;
        if (place < decision.candidates.size()) {
            decision.candidates[place] = there.candidates[*there.winner];
            put_first(decision, place);
        } else {
            decision = std::move(there);
        }
    }
    decision.turn = std::move(turn);
    start(jobs[job], job, request, std::move(decision));
    return true;
}

void PageDecisions::plan_rest(std::span<const ReadyJob> jobs)
{
    std::vector<std::size_t> view_jobs;
    std::vector<WaitingJobView> views;
    for (std::size_t i = 0; i < jobs.size(); ++i) {
        if (is_done_[i]) continue;
        view_jobs.push_back(i);
        views.push_back(views_[i]);
    }
    if (views.empty()) return;
    const std::vector<UnitTypeLoad> loads = loads_now();
    std::vector<std::optional<BetterWait>> better(views.size());
    for (const BetterWait& wait : find_better_waits(views, loads, settings_))
        better[wait.job] = wait;
    for (const std::size_t next : order_waiting(views, loads, settings_)) {
        if (better[next] && plan_better(jobs, view_jobs[next], *better[next])) continue;
        plan(jobs, view_jobs[next]);
    }
}

void PageDecisions::plan(std::span<const ReadyJob> jobs, std::size_t job)
{
    const RouteRequest request = with_use(jobs[job]);
    Decision decision = decide_now(request);
    const bool may_start = decision.winner && decision.can_start_now && decision.quota_obstacle.empty();
    if (may_start && jobs[job].gang.empty()) {
        // It ends before those that go before it need its units.
        decision.turn = "before its turn: it delays no job that goes first";
        start(jobs[job], job, request, std::move(decision));
    } else {
        wait_for_winner(jobs, {.job = job, .decision = std::move(decision)});
    }
}

bool PageDecisions::plan_better(std::span<const ReadyJob> jobs, std::size_t job, const BetterWait& wait)
{
    Decision decision = decide_now(with_use(jobs[job]));
    if (!decision.winner || !decision.quota_obstacle.empty()) return false;
    const UnitTypeId& better = ledger_->views()[views_[job].options[wait.option].unit_type].id;
    const std::vector<Candidate>& places = decision.candidates;
    const auto here = std::find_if(places.begin(), places.end(),
                                   [](const Candidate& one) { return one.feasible && one.plan.start_s <= 0; });
    const auto there = std::find_if(places.begin(), places.end(), [&](const Candidate& one) {
        return one.feasible && one.plan.start_s > 0 && !one.plan.window && one.unit_type_id == better;
    });
    if (here == places.end() || there == places.end()) return false;
    // The order does not know what is kept for others, nor how long starts take there.
    if (there->start.wait_s - here->start.wait_s > wait.longest_wait_s) return false;
    Candidate left_free = *here;
    decision.winner = static_cast<std::size_t>(there - places.begin());
    decision.can_start_now = false;
    wait_for_winner(jobs, {.job = job, .decision = std::move(decision), .left_free = std::move(left_free)});
    return true;
}

void PageDecisions::wait_for_winner(std::span<const ReadyJob> jobs, DecidedWait wait)
{
    const Decision& decision = wait.decision;
    if (wants_units(decision)) {
        wait.planned = reservation_of(jobs[wait.job], decision.candidates[*decision.winner]);
        ledger_->reserve(*wait.planned);
    }
    outcome_.waits.push_back(std::move(wait));
}

void PageDecisions::set_turns()
{
    const OrderIndices indices = order_indices(views_, loads_now(), settings_);
    for (DecidedWait& wait : outcome_.waits) {
        const OrderIndex& own = indices.jobs[wait.job];
        const auto best = std::min_element(own.index.begin(), own.index.end());
        if (own.is_overdue)
            wait.turn = kFirstTurn;
        else if (best == own.index.end() || !std::isfinite(*best) || !(*best > 0))
            wait.turn = kLastTurn;
        else
            wait.turn = std::clamp(kMiddleTurn + std::round(kTurnsPerDoubling * std::log2(*best)) / kTurnsPerDoubling,
                                   kFirstTurn + 1, kLastTurn - 1);
    }
    std::sort(outcome_.waits.begin(), outcome_.waits.end(),
              [](const DecidedWait& a, const DecidedWait& b) { return a.job < b.job; });
}

} // namespace fathom::server
