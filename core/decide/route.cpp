#include "core/decide/route.hpp"

#include "core/decide/route_reasons.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>

namespace fathom {
namespace {

/// An explanation shows so many counts at most.
constexpr std::size_t kMostCountsShown = 32;

std::string join(const std::vector<std::string>& words)
{
    std::string text;
    for (const std::string& word : words)
        text += (text.empty() ? "" : ", ") + word;
    return text;
}

bool refuse(Candidate& candidate, Filter filter, std::string reason)
{
    candidate.removed_by = filter;
    candidate.reason = std::move(reason);
    return false;
}

/// Whether the unit type could ever run the job; else criterion and reason say why not.
bool passes_filters(const RouteRequest& request, const UnitTypeView& view, Candidate& candidate)
{
    const UnitRequest& units = request.units;
    if (!units.center.empty() && units.center != view.center_name && units.center != view.center_id.value)
        return refuse(candidate, Filter::kPolicy, "the job asks for center " + units.center);
    if (units.type != "any" && units.type != view.name && units.type != view.id.value)
        return refuse(candidate, Filter::kPolicy, "the job asks for unit type " + units.type);
    std::vector<std::string> missing;
    for (const OperatorDemand& demand : request.operators) {
        const bool known = std::binary_search(view.operators.begin(), view.operators.end(), demand.operator_id);
        if (!known && std::find(missing.begin(), missing.end(), demand.operator_id) == missing.end())
            missing.push_back(demand.operator_id);
    }
    if (!missing.empty()) return refuse(candidate, Filter::kOperators, "cannot run " + join(missing));
    if (candidate.unit_count > view.unit_count)
        return refuse(candidate, Filter::kUnitCount,
                      "has " + std::to_string(view.unit_count) + " units, the job needs " +
                          std::to_string(candidate.unit_count));
    if (!request.is_taken_by(view)) return refuse(candidate, view.closed_by, view.closed_reason);
    return true;
}

/// The counts that the job may get.
std::vector<std::int64_t> allowed_counts(const RouteRequest& request, const UnitTypeView& view, const ScaledRun& run,
                                         std::int64_t knee)
{
    const UnitRequest& units = request.units;
    if (units.count) return {*units.count};
    if (request.operators.empty()) return {units.min};
    const std::int64_t most = units.ignore_knee ? std::max(knee, run.largest_known()) : knee;
    return counts_between(units.min, std::max(units.min, std::min({units.max, view.unit_count, most})));
}

bool meets_deadline(const TransferRequest& request, double completion_s)
{
    return !request.deadline || completion_s <= Seconds(*request.deadline - request.now).count();
}

/// Of counts that complete within the tie fraction of the earliest the fewest units, unless only more of them meet
/// the deadline. Network windows are not looked at yet: they are the same for every count.
std::size_t best_count(const std::vector<CountChoice>& counts, const TransferRequest& request)
{
    std::size_t best = 0;
    for (std::size_t i = 1; i < counts.size(); ++i) {
        if (counts[i].completion_s < counts[best].completion_s) best = i;
    }
    const double tie_s = counts[best].completion_s * (1 + kTieFraction);
    for (std::size_t i = 0; i < counts.size(); ++i) {
        const bool is_fewer = counts[i].unit_count < counts[best].unit_count;
        const bool is_in_time =
            meets_deadline(request, counts[i].completion_s) || !meets_deadline(request, counts[best].completion_s);
        if (is_fewer && is_in_time && counts[i].completion_s <= tie_s) best = i;
    }
    return best;
}

/// Those around the chosen one where there are too many to show.
std::vector<CountChoice> shown_counts(const std::vector<CountChoice>& counts, std::size_t chosen)
{
    if (counts.size() <= kMostCountsShown) return counts;
    const std::size_t first =
        std::min(chosen - std::min(chosen, kMostCountsShown / 2), counts.size() - kMostCountsShown);
    const auto begin = counts.begin() + static_cast<std::ptrdiff_t>(first);
    return {begin, begin + static_cast<std::ptrdiff_t>(kMostCountsShown)};
}

/// Chooses count and start, and sets all that follows from them.
void plan_candidate(const RouteRequest& request, const UnitTypeView& view, Candidate& candidate)
{
    const RunPrediction single = predict_run(request.operators, view.measured);
    const ScaledRun run(single, request.operators, view.speedups.get());
    if (!request.units.count) candidate.knee = run.knee(view.unit_count);
    std::vector<CountChoice> counts;
    for (const std::int64_t count : allowed_counts(request, view, run, candidate.knee)) {
        const RunTime time = run.at(count);
        const double wait_s = view.availability.earliest_start(count, time.high_s);
        const StartPlan plan = plan_at_once(request.transfer, view.network.get(), wait_s, time);
        counts.push_back({count, wait_s, plan.occupied.run_s, plan.completion_s, 0, plan.completion_s});
    }
    const std::size_t chosen = best_count(counts, request.transfer);
    const RunTime time = run.at(counts[chosen].unit_count);
    candidate.unit_count = counts[chosen].unit_count;
    candidate.wait_s = counts[chosen].wait_s;
    candidate.plan = plan_start(request.transfer, view.network.get(), candidate.wait_s, time);
    candidate.completion_s = candidate.plan.completion_s;
    candidate.prediction = single;
    candidate.prediction.run_s = candidate.plan.occupied.run_s;
    candidate.prediction.low_s = candidate.plan.occupied.low_s;
    candidate.prediction.high_s = candidate.plan.occupied.high_s;
    candidate.single_run_s = single.run_s;
    candidate.compute_s = time.run_s;
    candidate.counts = shown_counts(counts, chosen);
}

/// What only the winner is asked for: why so many units, and what their run time rests on.
void describe_count(const RouteRequest& request, const UnitTypeView& view, Candidate& winner)
{
    const RunPrediction single = predict_run(request.operators, view.measured);
    const ScaledRun run(single, request.operators, view.speedups.get());
    winner.knee = run.knee(view.unit_count);
    winner.assumptions = run.assumptions(winner.unit_count);
    if (!request.operators.empty())
        winner.count_reason = count_reason_of(run, request.units, winner.unit_count, winner.knee);
}

Candidate evaluate(const RouteRequest& request, const UnitTypeView& view)
{
    Candidate candidate;
    candidate.unit_type_id = view.id;
    candidate.unit_type = view.name;
    candidate.center_id = view.center_id;
    candidate.center = view.center_name;
    candidate.trust_factor = view.trust_factor;
    candidate.unit_count = request.units.count.value_or(request.units.min);
    candidate.feasible = passes_filters(request, view, candidate);
    if (!candidate.feasible) return candidate;
    plan_candidate(request, view, candidate);
    if (!meets_deadline(request.transfer, candidate.completion_s))
        candidate.feasible = refuse(candidate, Filter::kDeadline, missed_deadline_reason(request.transfer, candidate));
    return candidate;
}

/// Geometric mean of operations (or bytes) per second over what was measured; 0 when nothing was.
double measured_speed(const UnitTypeView& view)
{
    double sum = 0;
    std::int64_t count = 0;
    for (const MeasuredOperator& one : view.measured) {
        const double work = one.operations > 0 ? one.operations : one.bytes;
        if (work <= 0 || one.median_s <= 0) continue;
        sum += std::log(work / one.median_s);
        ++count;
    }
    return count > 0 ? std::exp(sum / static_cast<double>(count)) : 0;
}

/// Ranks feasible candidates. Completions within the tie fraction of the best compare as equal, which a plain
/// comparison of pairs could not do consistently: hence the bucket against the best.
struct Ranked {
    Candidate candidate;
    double speed{};
    double judged_s{};
    bool tie_with_best{false};
};

bool ranks_before(const Ranked& a, const Ranked& b, bool knows_work)
{
    const Candidate& x = a.candidate;
    const Candidate& y = b.candidate;
    if (x.feasible != y.feasible) return x.feasible;
    const std::string& x_id = x.unit_type_id.value;
    const std::string& y_id = y.unit_type_id.value;
    if (!x.feasible) return std::tie(x.center, x.unit_type, x_id) < std::tie(y.center, y.unit_type, y_id);
    if (!knows_work) return std::tuple(x.wait_s, -a.speed, x_id) < std::tuple(y.wait_s, -b.speed, y_id);
    if (x.unknown_parts() != y.unknown_parts()) return x.unknown_parts() < y.unknown_parts();
    if (a.tie_with_best != b.tie_with_best) return a.tie_with_best;
    if (a.tie_with_best)
        return std::tuple(x.unit_count, x.plan.start_s, x_id) < std::tuple(y.unit_count, y.plan.start_s, y_id);
    return std::tie(a.judged_s, x_id) < std::tie(b.judged_s, y_id);
}

void mark_ties(std::vector<Ranked>& ranked)
{
    std::int64_t fewest_unknown = std::numeric_limits<std::int64_t>::max();
    double best = std::numeric_limits<double>::infinity();
    for (const Ranked& one : ranked) {
        if (one.candidate.feasible) fewest_unknown = std::min(fewest_unknown, one.candidate.unknown_parts());
    }
    for (const Ranked& one : ranked) {
        if (one.candidate.feasible && one.candidate.unknown_parts() == fewest_unknown)
            best = std::min(best, one.judged_s);
    }
    for (Ranked& one : ranked) {
        one.tie_with_best = one.candidate.feasible && one.candidate.unknown_parts() == fewest_unknown &&
                            one.judged_s <= best * (1 + kTieFraction);
    }
}

} // namespace

double Candidate::judged_s(const TransferRequest& request) const
{
    const bool waits_for_free = request.deadline && plan.window;
    const double distrust_s = compute_s * (1 / trust_factor - 1);
    return distrust_s + (waits_for_free ? wait_s + prediction.run_s : completion_s);
}

struct RouteTable::Impl {
    std::span<const UnitTypeView> unit_types;
    RouteKnowledge knowledge;
};

RouteTable::RouteTable(std::span<const UnitTypeView> unit_types, RouteKnowledge knowledge)
    : impl_(std::make_unique<Impl>(Impl{unit_types, std::move(knowledge)}))
{
}

RouteTable::~RouteTable() = default;
RouteTable::RouteTable(RouteTable&&) noexcept = default;
RouteTable& RouteTable::operator=(RouteTable&&) noexcept = default;

void RouteTable::changed(std::size_t) {}

Decision route(const RouteRequest& request, RouteTable& table)
{
    return route(request, table.impl().unit_types, table.impl().knowledge);
}

Decision route(const RouteRequest& request, std::span<const UnitTypeView> unit_types, const RouteKnowledge&)
{
    const bool knows_work = !request.operators.empty() || request.transfer.moves_data();
    std::vector<Ranked> ranked;
    ranked.reserve(unit_types.size());
    for (const UnitTypeView& view : unit_types) {
        Ranked one{evaluate(request, view), measured_speed(view)};
        one.judged_s = one.candidate.judged_s(request.transfer);
        ranked.push_back(std::move(one));
    }
    mark_ties(ranked);
    std::sort(ranked.begin(), ranked.end(),
              [&](const Ranked& a, const Ranked& b) { return ranks_before(a, b, knows_work); });

    Decision decision;
    for (Ranked& one : ranked)
        decision.candidates.push_back(std::move(one.candidate));
    for (std::size_t i = 0; i < decision.candidates.size(); ++i) {
        if (i > 0 || !decision.candidates[i].feasible) decision.candidates[i].counts.clear();
    }
    if (decision.candidates.empty() || !decision.candidates.front().feasible) return decision;
    decision.winner = 0;
    Candidate& winner = decision.candidates.front();
    decision.can_start_now = winner.plan.start_s <= 0;
    const auto place = std::find_if(unit_types.begin(), unit_types.end(),
                                    [&](const UnitTypeView& view) { return view.id == winner.unit_type_id; });
    describe_count(request, *place, winner);
    explain_ranking(request, decision.candidates);
    decision.assumptions = list_assumptions(request, winner);
    return decision;
}

std::vector<std::size_t> unmeasured_candidates(const RouteRequest& request, std::span<const UnitTypeView> unit_types,
                                               Timestamp now, std::chrono::seconds period)
{
    std::vector<std::size_t> found;
    for (std::size_t i = 0; i < unit_types.size(); ++i) {
        const UnitTypeView& view = unit_types[i];
        Candidate candidate;
        candidate.unit_count = request.units.count.value_or(request.units.min);
        if (!passes_filters(request, view, candidate)) continue;
        const bool all_fresh =
            std::all_of(request.operators.begin(), request.operators.end(), [&](const OperatorDemand& demand) {
                return std::any_of(view.measured.begin(), view.measured.end(), [&](const MeasuredOperator& one) {
                    return one.operator_id == demand.operator_id && one.parameters_key == demand.parameters_key &&
                           now - one.measured_at <= period;
                });
            });
        if (!all_fresh) found.push_back(i);
    }
    return found;
}

} // namespace fathom
