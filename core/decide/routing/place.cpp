#include "core/decide/routing/place.hpp"

#include "core/decide/prediction/neighbours.hpp"
#include "core/decide/routing/gpu_room_cost.hpp"
#include "core/decide/routing/route_reasons.hpp"

#include <algorithm>
#include <cmath>

namespace fathom {
namespace {

/// Candidate::trust_penalty_s. What history says beyond the raw prediction counts already; that it says less adds none.
double find_trust_penalty_s(double trust_factor, double raw_s, double compute_s)
{
    return std::max(0.0, raw_s / trust_factor - std::max(raw_s, compute_s));
}

} // namespace

const WaitHistory& waits_of(const RouteKnowledge& knowledge)
{
    static const WaitHistory none;
    return knowledge.waits ? *knowledge.waits : none;
}

AskedTime asked_time_of(const RouteRequest& request, const RunHistory* runs)
{
    if (runs == nullptr || request.asked_s <= 0 || !request.operators.empty()) return {};
    return runs->asked_time(request.job_type, request.run_owner(), static_cast<double>(request.asked_s));
}

PlaceChooser::PlaceChooser(const RouteRequest& request, const RouteKnowledge& knowledge)
    : request_(&request), knowledge_(&knowledge), transfer_(request.transfer),
      left_s_(request.transfer.deadline ? Seconds(*request.transfer.deadline - request.transfer.now).count()
                                        : Availability::kForEver),
      budget_(budget_limit(request.budget)), has_quota_(request.quota.is_limited()),
      has_costs_(has_quota_ || request.budget || request.prefer.time < 1),
      asked_(asked_time_of(request, knowledge.runs.get()))
{
    if (knowledge.runs && request.known_run && request.takes_operators)
        known_factor_ = knowledge.runs->known_run_factor(request.job_type, request.run_owner(), *request.known_run);
}

bool PlaceChooser::may_wait() const
{
    const TransferRequest& transfer = request_->transfer;
    return transfer.network == NetworkChoice::kAuto && transfer.deadline &&
           (transfer.moves_data() || request_->prefer.cost > 0 || request_->budget);
}

LimitUse PlaceChooser::limit_use() const
{
    LimitUse use;
    for (const CountChoice& one : counts_) {
        use.completion_s = std::max(use.completion_s, one.completion_s);
        use.cost = std::max(use.cost, one.cost);
    }
    return use;
}

QuotaUse PlaceChooser::use_of(const UnitTypeView& view, std::int64_t unit_count, double run_s, double cost) const
{
    return quota_use(unit_count, run_s, view.score, cost);
}

std::vector<CountOffer> PlaceChooser::offers() const
{
    std::vector<CountOffer> offers;
    if (choice_.plan.window) return offers;
    std::int64_t next = 0; // of those that are offered
    for (std::size_t i = 0; i < counts_.size(); ++i) {
        const CountChoice& one = counts_[i];
        const bool is_wanted =
            one.unit_count >= next || one.unit_count == choice_.unit_count || i + 1 == counts_.size();
        if (one.unit_count >= next) next = 2 * one.unit_count;
        if (!is_wanted || one.completion_s > left_s_ || one.cost > budget_) continue;
        const double start_s = std::max(weighed_[i].start.wait_s - weighed_[i].plan.start_s, 0.0);
        offers.push_back({one.unit_count, one.run_s, weighed_[i].penalties_s() + start_s, one.objective});
    }
    return offers;
}

void PlaceChooser::find_counts(const UnitTypeView& view, const DividedRun& run, std::int64_t knee)
{
    const UnitRequest& units = request_->units;
    allowed_.clear();
    if (units.count || is_unknown_job_) {
        allowed_.push_back(view.least_count_for(units));
        return;
    }
    const std::int64_t most = units.ignore_knee ? std::max(knee, run.largest_known()) : knee;
    allowed_ = counts_between(units.min, std::max(units.min, std::min({units.max, view.unit_count, most})));
    if (!units.is_exclusive() || view.units_per_device <= 1) return;
    for (std::int64_t& count : allowed_)
        count = view.count_for(units, count);
    allowed_.erase(std::unique(allowed_.begin(), allowed_.end()), allowed_.end());
    while (allowed_.size() > 1 && allowed_.back() > view.unit_count)
        allowed_.pop_back();
}

StartPlan PlaceChooser::plan_when_free(const UnitTypeView& view, const Availability& free, std::int64_t count,
                                       const RunTime& run) const
{
    double wait_s = first_start_s(view, run, free, count);
    // Transfers that take longer at that hour need a longer gap, which begins later: one step of the availability at
    // least each time.
    for (;;) {
        StartPlan plan = plan_at_once(transfer_, view.network.get(), wait_s, run);
        if (wait_s == Availability::kForEver || !transfer_.moves_data()) return plan;
        const double fitting_s = free.earliest_start(count, std::max(plan.occupied.high_s, kMinHeld_s), wait_s);
        if (fitting_s == wait_s) return plan;
        wait_s = fitting_s;
    }
}

double PlaceChooser::first_start_s(const UnitTypeView& view, const RunTime& run, const Availability& free,
                                   std::int64_t count) const
{
    return free.earliest_start(count, std::max(run.high_s, kMinHeld_s),
                               memory_wait_s(view, request_->units.gpu_memory));
}

void PlaceChooser::judge(const UnitTypeView& view, Weighed& weighed, std::int64_t count) const
{
    const StartPlan& plan = weighed.plan;
    if (view.price == nullptr) return;
    weighed.cost = view.price->cost(moment_after(transfer_.now, plan.start_s), plan.occupied.run_s, count);
    weighed.energy_j = view.price->energy_j(plan.occupied.run_s, count);
}

double PlaceChooser::judged_objective(const Weighed& weighed) const
{
    // One after the other: recorded decisions hold sums that were rounded so.
    return objective(request_->prefer,
                     {weighed.start.wait_s + weighed.plan.occupied.run_s + weighed.trust_penalty_s +
                          weighed.neighbours.penalty_s + weighed.gpu_share.penalty_s + weighed.gpu_room.penalty_s,
                      weighed.cost, weighed.energy_j});
}

/// 2: it ends after the deadline, 1: it costs more than the budget, at once and, as far as bounds say, at all hours.
void PlaceChooser::find_faults(const UnitTypeView& view, ChoiceAim aim)
{
    faults_.assign(counts_.size(), 0);
    if (aim == ChoiceAim::kBound) return;
    for (std::size_t i = 0; i < counts_.size(); ++i) {
        if (counts_[i].completion_s > left_s_)
            faults_[i] = 2;
        else if (counts_[i].cost > budget_ && !may_become_cheap(view, i))
            faults_[i] = 1;
    }
}

/// Of the counts of least fault the one of least objective when it starts at once, ties to fewer units.
std::size_t PlaceChooser::pick() const
{
    std::size_t best = 0;
    for (std::size_t i = 1; i < counts_.size(); ++i) {
        const bool is_as_good = faults_[i] == faults_[best];
        if (faults_[i] < faults_[best] || (is_as_good && counts_[i].objective < counts_[best].objective)) best = i;
    }
    const double tie = counts_[best].objective * (1 + kTieFraction);
    for (std::size_t i = 0; i < counts_.size(); ++i) {
        if (faults_[i] == faults_[best] && counts_[i].objective <= tie) return i; // counts ascend
    }
    return best;
}

/// Whether neither it nor, where it may yet prove too dear, a count that would be taken instead is within the limit.
bool PlaceChooser::is_beaten(const UnitTypeView& view, std::size_t picked) const
{
    if (!is_beyond_limit(view, weighed_[picked], counts_[picked].unit_count)) return false;
    if (counts_[picked].cost <= budget_ || faults_[picked] > 0) return true;
    for (std::size_t i = 0; i < counts_.size(); ++i) {
        if (faults_[i] == 0 && !is_beyond_limit(view, weighed_[i], counts_[i].unit_count)) return false;
    }
    return true;
}

void PlaceChooser::estimate_run(const UnitTypeView& view)
{
    const RunHistory* runs = knowledge_->runs.get();
    if (!is_unknown_job_ || runs == nullptr) {
        estimate_.reset();
        return;
    }
    estimate_ = runs->estimate(request_->job_type, view.id.value, request_->run_owner(), asked_);
    choice_.is_run_missing = !estimate_;
    if (estimate_) run_basis_ = estimate_->basis;
}

void PlaceChooser::count_unknown_parts(const UnitTypeView& view, const PlaceRun& known)
{
    choice_.is_power_missing = request_->prefer.energy > 0 && (view.price == nullptr || !view.price->knows_power());
    choice_.estimated_operators = known.estimated_operators;
    choice_.unknown_parts = known.unknown_operators + (choice_.is_run_missing ? 1 : 0) +
                            (choice_.is_power_missing ? 1 : 0) +
                            (transfer_.moves_data() && view.network == nullptr ? 1 : 0);
}

DividedRun PlaceChooser::divided(const PlaceRun& known) const
{
    if (estimate_) return {estimate_->time, {}};
    if (known.by_count != nullptr) return DividedRun(*known.by_count);
    return {known.single, known.parts};
}

/// @return what removes the unit type when no count is left.
Filter PlaceChooser::weigh_counts(const UnitTypeView& view, const PlaceRun& known, const DividedRun& run,
                                  const Availability& free)
{
    const WaitHistory& waits = waits_of(*knowledge_);
    Filter reason = Filter::kQuota;
    for (const std::int64_t count : allowed_) {
        Weighed weighed;
        Beside others;
        const RunTime alone = run.at(count);
        const RunTime known_time = beside(view, known, alone, free, count, others);
        weighed.neighbours = others.neighbours;
        weighed.gpu_share = others.gpu_share;
        if (!is_unknown_job_) weighed.raw = known_time; // what earlier runs took is no raw prediction
        weighed.compute = corrected_beside(alone, known_time, choice_.correction, choice_.correction.width_factor);
        weighed.gpu_share.penalty_s *= choice_.correction.factor;
        weighed.trust_penalty_s = find_trust_penalty_s(view.trust_factor, weighed.raw.run_s, weighed.compute.run_s);
        weighed.plan = plan_when_free(view, free, count, weighed.compute);
        weighed.gpu_room =
            find_gpu_room_cost(view, request_->learned_gpu_memory, weighed.plan.start_s, weighed.compute.run_s);
        const bool is_never = weighed.plan.start_s == Availability::kForEver;
        if (!is_never && has_costs_) judge(view, weighed, count);
        const StartPlan& plan = weighed.plan;
        if (has_quota_ && is_beyond_quota(request_->quota, use_of(view, count, plan.occupied.run_s, weighed.cost)))
            continue;
        reason = Filter::kDrain;
        if (is_never) continue;
        const bool is_as_before = !weighed_.empty() && weighed_.back().plan.start_s == plan.start_s;
        weighed.start = is_as_before ? weighed_.back().start : waits.expect(view.id.value, plan.start_s, view.queued_s);
        counts_.push_back({count, plan.start_s, plan.occupied.run_s, weighed.start.wait_s + plan.occupied.run_s,
                           weighed.cost, judged_objective(weighed)});
        weighed_.push_back(std::move(weighed));
    }
    return reason;
}

RunCorrection PlaceChooser::correction_of(const UnitTypeView& view, const PlaceRun& known, const DividedRun& run) const
{
    const RunHistory* runs = knowledge_->runs.get();
    if (runs == nullptr || request_->job_type.empty()) return {};
    const bool is_known_run = request_->known_run && request_->known_run->unit_type == view.id.value;
    return runs->correction(request_->job_type, view.id.value, request_->run_owner(),
                            {known.basis, !request_->takes_operators, &run, known_factor_, is_known_run});
}

const PlaceChoice& PlaceChooser::choose(const UnitTypeView& view, const PlaceRun& known, ChoiceAim aim)
{
    choice_ = {};
    transfer_ = request_->transfer;
    transfer_.in_bytes = request_->in_bytes_at(view.center_id);
    run_basis_.clear();
    counts_.clear();
    weighed_.clear();
    is_unknown_job_ = request_->operators.empty() && known.by_count == nullptr;
    estimate_run(view);
    count_unknown_parts(view, known);
    if (!estimate_ && known.by_count == nullptr) choice_.memory = memory_use(known.single.run_s, known.parts);
    const DividedRun run = divided(known);
    const Availability* free = &view.open_units(request_->units);
    Availability without_holds;
    if (!view.holds.empty()) {
        without_holds = open_to(request_->project, *free, view.holds);
        free = &without_holds;
    }
    if (!is_unknown_job_) choice_.correction = correction_of(view, known, run);
    if (known.knee > 0)
        choice_.knee = known.knee;
    else if (!request_->units.count)
        choice_.knee = run.knee(view.unit_count);
    find_counts(view, run, choice_.knee);
    const Filter reason = weigh_counts(view, known, run, *free);
    if (counts_.empty()) {
        choice_.removed_by = reason;
        choice_.unit_count = allowed_.front();
        return choice_;
    }
    find_faults(view, aim);
    for (;;) {
        const std::size_t picked = pick();
        settle(view, *free, picked, aim);
        if (choice_.removed_by != Filter::kBudget || faults_[picked] > 0) return choice_;
        faults_[picked] = 1; // no hour was cheap enough after all
    }
}

void PlaceChooser::settle(const UnitTypeView& view, const Availability& free, std::size_t picked, ChoiceAim aim)
{
    Weighed& chosen = weighed_[picked];
    const std::int64_t count = counts_[picked].unit_count;
    choice_.removed_by.reset();
    choice_.unit_count = count;
    choice_.wait_s = counts_[picked].wait_s;
    choice_.raw = chosen.raw;
    choice_.neighbours = chosen.neighbours;
    choice_.gpu_share = chosen.gpu_share;
    choice_.compute = chosen.compute;
    choice_.trust_penalty_s = chosen.trust_penalty_s;
    if (aim == ChoiceAim::kBound) {
        settle_bounds(view);
        return;
    }
    if (!has_costs_) judge(view, chosen, count);
    const bool is_late = counts_[picked].completion_s > left_s_; // and would be later still
    if (may_wait() && !is_late) {
        if (is_beaten(view, picked)) {
            choice_.is_beaten = true;
            return;
        }
        plan_later_start(view, free, picked);
        choice_.raw = chosen.raw;
        choice_.gpu_share = chosen.gpu_share;
        choice_.compute = chosen.compute;
        choice_.trust_penalty_s = chosen.trust_penalty_s;
    }
    choice_.gpu_room = chosen.gpu_room;
    choice_.plan = chosen.plan;
    choice_.start = chosen.start;
    choice_.completion_s = chosen.start.wait_s + chosen.plan.occupied.run_s;
    choice_.cost = chosen.cost;
    choice_.energy_j = chosen.energy_j;
    choice_.objective = counts_[picked].objective;
    if (chosen.plan.window) {
        Weighed judged = chosen;
        // Until the deadline it waits for its network at no cost; for a cheaper hour it has weighed the time.
        if (!chosen.plan.window->is_for_price) judged.start.wait_s = choice_.wait_s;
        choice_.objective = judged_objective(judged);
    }
    if (choice_.completion_s > left_s_)
        choice_.removed_by = Filter::kDeadline;
    else if (choice_.cost > budget_)
        choice_.removed_by = Filter::kBudget;
}

/// Takes a better hour than the first, if there is one in time.
void PlaceChooser::plan_later_start(const UnitTypeView& view, const Availability& free, std::size_t picked)
{
    Weighed& chosen = weighed_[picked];
    const std::int64_t count = counts_[picked].unit_count;
    const StartTerms terms{view.price.get(), count, request_->prefer, request_->budget, &free};
    // What starts usually take may leave too little time for slower transfers.
    const auto is_in_time = [&](const StartPlan& one) {
        return std::max(chosen.start.wait_s, one.start_s) + one.occupied.run_s <= left_s_;
    };
    StartPlan plan = plan_start(transfer_, view.network.get(), choice_.wait_s, chosen.compute, terms);
    if (plan.window && chosen.gpu_share.is_known) {
        Weighed later = chosen;
        start_later_on_gpu(later, plan.start_s);
        later.trust_penalty_s = find_trust_penalty_s(view.trust_factor, later.raw.run_s, later.compute.run_s);
        StartPlan again = plan_start(transfer_, view.network.get(), choice_.wait_s, later.compute, terms);
        // The run is the one from this start on only where that is still the best, or nobody is there then either.
        const bool is_as_found =
            again.window && is_in_time(again) &&
            (again.start_s == plan.start_s || (!later.gpu_share.is_known && again.start_s >= chosen.gpu_share.until_s));
        if (is_as_found) {
            plan = std::move(again);
            chosen = std::move(later);
        }
    }
    if (!plan.window || !is_in_time(plan)) return;
    chosen.plan = std::move(plan);
    chosen.gpu_room = find_gpu_room_cost(view, request_->learned_gpu_memory, chosen.plan.start_s, chosen.compute.run_s);
    judge(view, chosen, count);
    chosen.start.low_s = std::max(chosen.start.low_s, chosen.plan.start_s);
    chosen.start.wait_s = std::max(chosen.start.wait_s, chosen.plan.start_s);
    chosen.start.high_s = std::max(chosen.start.high_s, chosen.plan.start_s);
}

} // namespace fathom
