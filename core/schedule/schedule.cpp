#include "core/schedule/schedule.hpp"

#include "core/base/portable_math.hpp"
#include "core/decide/better_wait.hpp"
#include "core/decide/order_index.hpp"
#include "core/decide/route_json.hpp"
#include "core/schedule/waiting_views.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>
#include <unordered_map>

namespace fathom {
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

/// One call of schedule().
class Scheduling {
  public:
    Scheduling(UnitLedger& units, const ScheduleInput& input)
        : ledger_(&units), input_(&input), jobs_(input.jobs), projects_{input.project_uses, input.quota_uses}
    {
    }

    SchedulePlan run();

  private:
    /// What projects hold and have used; moves with each start.
    struct Projects {
        std::vector<ProjectUse> uses;
        QuotaUses quota_uses;
    };

    /// False: they must be decided together; nothing has changed.
    bool decide_one_by_one();
    void decide_together();
    /// Starts what order_jobs says, again until it says nothing new.
    void start_in_order();
    /// True when some start could not be made, and units may be left for others.
    bool make_starts(const std::vector<std::size_t>& view_jobs, const std::vector<WaitingJobView>& views,
                     const std::vector<OrderedStart>& starts);
    bool start_at(std::size_t job, const JobOption& option, std::string turn);
    void plan_rest();
    /// Starts it if it can without delaying others; else plans it where it would go by itself.
    void plan(std::size_t job);
    /// Plans it at the place that it waits for. False: that does not pay on what is left.
    bool plan_better(std::size_t job, const BetterWait& wait);
    void wait_for_winner(ScheduledWait wait);
    void set_turns();

    /// The places of each job on the ledger as it is, into views_; what cannot start anywhere goes to the waits.
    void view_all();
    void load_projects();
    std::vector<UnitTypeLoad> loads_now() const;

    RouteRequest with_use(const ReadyJob& job) const;
    void start(std::size_t job, const RouteRequest& request, Decision decision);
    static Reservation reservation_of(const ReadyJob& job, const Candidate& winner);

    UnitLedger* ledger_;
    const ScheduleInput* input_;
    std::span<const ReadyJob> jobs_;
    Projects projects_;
    SchedulePlan plan_;
    std::vector<WaitingJobView> views_; ///< of all jobs
    std::vector<double> worths_;        ///< of the unit types
    std::vector<double> busy_shares_;   ///< of the unit types
    std::vector<bool> is_done_;         ///< decided: it starts, or it waits for something else than its turn
    std::vector<bool> is_refused_;      ///< its start did not come about; it is planned
};

SchedulePlan Scheduling::run()
{
    if (!decide_one_by_one()) decide_together();
    return std::move(plan_);
}

RouteRequest Scheduling::with_use(const ReadyJob& job) const
{
    RouteRequest request = job.request;
    const auto found = projects_.quota_uses.find(request.project);
    if (found != projects_.quota_uses.end()) request.used = found->second;
    return request;
}

Reservation Scheduling::reservation_of(const ReadyJob& job, const Candidate& winner)
{
    return {winner.unit_type_id, winner.unit_count, winner.wait_s + winner.held_s(), winner.wait_s,
            job.request.project};
}

void Scheduling::start(std::size_t job, const RouteRequest& request, Decision decision)
{
    ScheduledStart start{job, std::move(decision), {}, {}};
    start.winner = start.decision.candidates[*start.decision.winner];
    // As it was decided on, before its own units are taken.
    if (!request.is_probe)
        start.inputs = route_inputs_json(request, ledger_->views(), ledger_->knowledge(), start.decision).dump();
    ledger_->reserve(reservation_of(jobs_[job], start.winner));
    if (!request.is_probe) {
        add_units(projects_.uses, {request.project, start.winner.unit_type_id.value, start.winner.unit_count});
        const UnitTypeView* view = ledger_->find(start.winner.unit_type_id);
        add(projects_.quota_uses[request.project], use_of(start.winner, view == nullptr ? 0 : view->score));
    }
    plan_.starts.push_back(std::move(start));
}

bool Scheduling::decide_one_by_one()
{
    const Projects before = projects_;
    ledger_->begin_trial();
    for (std::size_t i = 0; i < jobs_.size(); ++i) {
        const RouteRequest request = with_use(jobs_[i]);
        Decision decision = ledger_->decide(request);
        const bool is_crowded = !decision.winner ? may_be_crowded_out(decision)
                                : !decision.quota_obstacle.empty()
                                    ? true
                                    : !decision.can_start_now && !waits_for_window(decision);
        const bool breaks_gang = !jobs_[i].gang.empty() && !decision.can_start_now;
        if (is_crowded || breaks_gang) {
            ledger_->undo_trial();
            projects_ = before;
            return false;
        }
        if (decision.winner && decision.can_start_now)
            start(i, request, std::move(decision));
        else
            plan_.waits.push_back({.job = i, .decision = std::move(decision), .turn = kLastTurn});
    }
    ledger_->keep_trial();
    return true;
}

void Scheduling::decide_together()
{
    plan_ = {};
    is_done_.assign(jobs_.size(), false);
    is_refused_.assign(jobs_.size(), false);
    view_all();
    load_projects();
    start_in_order();
    plan_rest();
    set_turns();
}

void Scheduling::view_all()
{
    std::unordered_map<std::string, std::size_t> index;
    for (std::size_t i = 0; i < ledger_->views().size(); ++i)
        index.emplace(ledger_->views()[i].id.value, i);
    // Nothing is reserved meanwhile, so equal jobs have equal places.
    std::map<std::string, Decision> by_kind;
    views_.assign(jobs_.size(), {});
    for (std::size_t i = 0; i < jobs_.size(); ++i) {
        const ReadyJob& job = jobs_[i];
        const RouteRequest request = with_use(job);
        auto known = by_kind.find(job.kind);
        if (known == by_kind.end()) known = by_kind.emplace(job.kind, ledger_->decide(request)).first;
        const Decision& decision = known->second;
        WaitingJobView& view = views_[i];
        view.id = job.id;
        view.waited_s = job.waited_s;
        view.priority = job.priority;
        view.gang = job.gang;
        view.gang_size = job.gang_size;
        if (wants_units(decision)) view.options = options_of(request, decision, index);
        is_done_[i] = view.options.empty();
        if (is_done_[i]) plan_.waits.push_back({.job = i, .decision = decision, .turn = kLastTurn});
    }
    assume_run_times(views_);
    std::vector<std::optional<double>> known_worths;
    for (const UnitTypeView& view : ledger_->views()) {
        const auto worth = input_->worths.find(view.id.value);
        known_worths.push_back(worth == input_->worths.end() ? std::nullopt : std::optional(worth->second));
        const auto share = input_->busy_shares.find(view.id.value);
        busy_shares_.push_back(share == input_->busy_shares.end() ? 1 : share->second);
    }
    worths_ = worths_for(views_, ledger_->views(), known_worths);
    for (std::size_t i = 0; i < jobs_.size(); ++i) {
        const TransferRequest& transfer = jobs_[i].request.transfer;
        if (!transfer.deadline || views_[i].options.empty()) continue;
        views_[i].latest_start_s =
            Seconds(*transfer.deadline - transfer.now).count() - shortest_run_s(views_[i].options);
    }
}

void Scheduling::load_projects()
{
    std::vector<std::size_t> order;
    for (std::size_t i = 0; i < jobs_.size(); ++i) {
        // Probes are the network's own: no project's load counts for them.
        if (!views_[i].options.empty() && !jobs_[i].request.is_probe) order.push_back(i);
    }
    std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
        return std::tie(jobs_[b].priority, jobs_[a].id) < std::tie(jobs_[a].priority, jobs_[b].id);
    });
    std::vector<UnitTypeSize> sizes;
    for (const UnitTypeView& view : ledger_->views())
        sizes.push_back({view.id.value, view.unit_count});
    std::vector<PlannedTake> takes;
    for (const std::size_t job : order) {
        const JobOption& best = views_[job].options.front();
        takes.push_back({jobs_[job].request.project, sizes[best.unit_type].unit_type, best.unit_count});
        // So that its share counts, also when it has used nothing yet.
        add_units(projects_.uses, {jobs_[job].request.project, {}, 0});
    }
    const std::vector<double> loads = progressive_loads(projects_.uses, sizes, takes);
    for (std::size_t i = 0; i < order.size(); ++i)
        views_[order[i]].fair_load = loads[i];
}

std::vector<UnitTypeLoad> Scheduling::loads_now() const
{
    std::vector<UnitTypeLoad> loads = unit_type_loads(ledger_->views());
    for (std::size_t type = 0; type < loads.size(); ++type) {
        loads[type].worth = worths_[type];
        loads[type].load = busy_shares_[type];
    }
    return loads;
}

void Scheduling::start_in_order()
{
    for (bool has_more = true; has_more;) {
        std::vector<std::size_t> view_jobs;
        std::vector<WaitingJobView> views;
        for (std::size_t i = 0; i < jobs_.size(); ++i) {
            if (is_done_[i] || is_refused_[i]) continue;
            view_jobs.push_back(i);
            views.push_back(views_[i]);
        }
        if (views.empty()) return;
        has_more = make_starts(view_jobs, views, order_starts(views, loads_now(), input_->settings));
    }
}

bool Scheduling::make_starts(const std::vector<std::size_t>& view_jobs, const std::vector<WaitingJobView>& views,
                             const std::vector<OrderedStart>& starts)
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
        const std::size_t started = plan_.starts.size();
        // A single start that is not made has changed nothing.
        std::optional<Projects> before;
        if (!gang.empty()) {
            before = projects_;
            ledger_->begin_trial();
        }
        const bool is_started = std::all_of(group.begin(), group.end(), [&](const OrderedStart& member) {
            return start_at(view_jobs[member.job], views[member.job].options[member.option],
                            turn_text(plan_.starts.size() + 1, waiting, input_->settings));
        });
        if (before && is_started) {
            ledger_->keep_trial();
        } else if (before) {
            ledger_->undo_trial();
            projects_ = std::move(*before);
            plan_.starts.resize(started);
        }
        has_refused = has_refused || !is_started;
        for (const OrderedStart& member : group)
            (is_started ? is_done_ : is_refused_)[view_jobs[member.job]] = true;
    }
    return has_refused;
}

bool Scheduling::start_at(std::size_t job, const JobOption& option, std::string turn)
{
    const UnitTypeId& unit_type = ledger_->views()[option.unit_type].id;
    RouteRequest request = with_use(jobs_[job]);
    Decision decision = ledger_->decide(request);
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
        Decision there = ledger_->decide(request);
        if (!there.winner || !there.can_start_now || !there.quota_obstacle.empty()) return false;
        if (place < decision.candidates.size()) {
            decision.candidates[place] = there.candidates[*there.winner];
            put_first(decision, place);
        } else {
            decision = std::move(there);
        }
    }
    decision.turn = std::move(turn);
    start(job, request, std::move(decision));
    return true;
}

void Scheduling::plan_rest()
{
    std::vector<std::size_t> view_jobs;
    std::vector<WaitingJobView> views;
    for (std::size_t i = 0; i < jobs_.size(); ++i) {
        if (is_done_[i]) continue;
        view_jobs.push_back(i);
        views.push_back(views_[i]);
    }
    if (views.empty()) return;
    const std::vector<UnitTypeLoad> loads = loads_now();
    std::vector<std::optional<BetterWait>> better(views.size());
    for (const BetterWait& wait : find_better_waits(views, loads, input_->settings))
        better[wait.job] = wait;
    for (const std::size_t next : order_waiting(views, loads, input_->settings)) {
        if (better[next] && plan_better(view_jobs[next], *better[next])) continue;
        plan(view_jobs[next]);
    }
}

void Scheduling::plan(std::size_t job)
{
    const RouteRequest request = with_use(jobs_[job]);
    Decision decision = ledger_->decide(request);
    const bool may_start = decision.winner && decision.can_start_now && decision.quota_obstacle.empty();
    if (may_start && jobs_[job].gang.empty()) {
        // It ends before those that go before it need its units.
        decision.turn = "before its turn: it delays no job that goes first";
        start(job, request, std::move(decision));
    } else {
        wait_for_winner({.job = job, .decision = std::move(decision)});
    }
}

bool Scheduling::plan_better(std::size_t job, const BetterWait& wait)
{
    Decision decision = ledger_->decide(with_use(jobs_[job]));
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
    wait_for_winner({.job = job, .decision = std::move(decision), .left_free = std::move(left_free)});
    return true;
}

void Scheduling::wait_for_winner(ScheduledWait wait)
{
    const Decision& decision = wait.decision;
    if (wants_units(decision)) {
        wait.planned = reservation_of(jobs_[wait.job], decision.candidates[*decision.winner]);
        ledger_->reserve(*wait.planned);
    }
    plan_.waits.push_back(std::move(wait));
}

void Scheduling::set_turns()
{
    const OrderIndices indices = order_indices(views_, loads_now(), input_->settings);
    for (ScheduledWait& wait : plan_.waits) {
        const OrderIndex& own = indices.jobs[wait.job];
        const auto best = std::min_element(own.index.begin(), own.index.end());
        if (own.is_overdue)
            wait.turn = kFirstTurn;
        else if (best == own.index.end() || !std::isfinite(*best) || !(*best > 0))
            wait.turn = kLastTurn;
        else
            wait.turn =
                std::clamp(kMiddleTurn + std::round(kTurnsPerDoubling * portable::log2(*best)) / kTurnsPerDoubling,
                           kFirstTurn + 1, kLastTurn - 1);
    }
    std::sort(plan_.waits.begin(), plan_.waits.end(),
              [](const ScheduledWait& a, const ScheduledWait& b) { return a.job < b.job; });
}

} // namespace

SchedulePlan schedule(UnitLedger& units, const ScheduleInput& input)
{
    return Scheduling(units, input).run();
}

} // namespace fathom
