#include "core/decide/route.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <tuple>

namespace fathom {
namespace {

/// Completions closer than this are a tie: below the noise of any measurement.
constexpr double kTieFraction = 0.01;

std::string join(const std::vector<std::string>& words)
{
    std::string text;
    for (const std::string& word : words)
        text += (text.empty() ? "" : ", ") + word;
    return text;
}

/// "12 s", "0.35 s", "4.2 min": for people.
std::string duration_text(double seconds)
{
    char text[32];
    if (seconds < 1)
        std::snprintf(text, sizeof text, "%.2g s", seconds);
    else if (seconds < 120)
        std::snprintf(text, sizeof text, "%.3g s", seconds);
    else if (seconds < 7200)
        std::snprintf(text, sizeof text, "%.3g min", seconds / 60);
    else
        std::snprintf(text, sizeof text, "%.3g h", seconds / 3600);
    return text;
}

bool refuse(Candidate& candidate, std::string criterion, std::string reason)
{
    candidate.criterion = std::move(criterion);
    candidate.reason = std::move(reason);
    return false;
}

/// Whether the unit type could ever run the job; else criterion and reason say why not.
bool passes_filters(const RouteRequest& request, const UnitTypeView& view, Candidate& candidate)
{
    const UnitRequest& units = request.units;
    if (!units.center.empty() && units.center != view.center_name && units.center != view.center_id.value)
        return refuse(candidate, "center", "the job asks for center " + units.center);
    if (units.type != "any" && units.type != view.name && units.type != view.id.value)
        return refuse(candidate, "unit_type", "the job asks for unit type " + units.type);
    std::vector<std::string> missing;
    for (const OperatorDemand& demand : request.operators) {
        const bool known = std::binary_search(view.operators.begin(), view.operators.end(), demand.operator_id);
        if (!known && std::find(missing.begin(), missing.end(), demand.operator_id) == missing.end())
            missing.push_back(demand.operator_id);
    }
    if (!missing.empty()) return refuse(candidate, "operators", "cannot run " + join(missing));
    if (candidate.unit_count > view.unit_count)
        return refuse(candidate, "unit_count",
                      "has " + std::to_string(view.unit_count) + " units, the job needs " +
                          std::to_string(candidate.unit_count));
    if (!view.closed_reason.empty()) return refuse(candidate, "closed", view.closed_reason);
    return true;
}

/// Seconds until `unit_count` units are free at once; 0 when they are free now.
double wait_for_units(const UnitTypeView& view, std::int64_t unit_count)
{
    const std::int64_t free_now = view.unit_count - static_cast<std::int64_t>(view.busy_s.size());
    if (free_now >= unit_count) return 0;
    std::vector<double> busy = view.busy_s;
    std::sort(busy.begin(), busy.end());
    // More may be reserved than exist after a center shrank: those units never come back.
    const std::int64_t index =
        unit_count - std::max<std::int64_t>(free_now, 0) - 1 + std::max<std::int64_t>(-free_now, 0);
    const double until =
        busy[static_cast<std::size_t>(std::min<std::int64_t>(index, static_cast<std::int64_t>(busy.size()) - 1))];
    // A job that outlives its prediction still holds its units.
    return std::max(until, 0.001);
}

Candidate evaluate(const RouteRequest& request, const UnitTypeView& view)
{
    Candidate candidate;
    candidate.unit_type_id = view.id;
    candidate.unit_type = view.name;
    candidate.center_id = view.center_id;
    candidate.center = view.center_name;
    candidate.unit_count = request.units.count.value_or(request.units.min);
    candidate.feasible = passes_filters(request, view, candidate);
    if (!candidate.feasible) return candidate;
    candidate.prediction = predict_run(request.operators, view.measured);
    candidate.wait_s = wait_for_units(view, candidate.unit_count);
    candidate.completion_s = candidate.wait_s + candidate.prediction.run_s;
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
    bool tie_with_best{false};
};

bool ranks_before(const Ranked& a, const Ranked& b, bool knows_operators)
{
    const Candidate& x = a.candidate;
    const Candidate& y = b.candidate;
    if (x.feasible != y.feasible) return x.feasible;
    const std::string& x_id = x.unit_type_id.value;
    const std::string& y_id = y.unit_type_id.value;
    if (!x.feasible) return std::tie(x.center, x.unit_type, x_id) < std::tie(y.center, y.unit_type, y_id);
    if (!knows_operators) return std::tuple(x.wait_s, -a.speed, x_id) < std::tuple(y.wait_s, -b.speed, y_id);
    if (x.prediction.unknown_operators != y.prediction.unknown_operators)
        return x.prediction.unknown_operators < y.prediction.unknown_operators;
    if (a.tie_with_best != b.tie_with_best) return a.tie_with_best;
    if (a.tie_with_best) return std::tuple(x.unit_count, x.wait_s, x_id) < std::tuple(y.unit_count, y.wait_s, y_id);
    return std::tie(x.completion_s, x_id) < std::tie(y.completion_s, y_id);
}

void mark_ties(std::vector<Ranked>& ranked)
{
    std::int64_t fewest_unknown = std::numeric_limits<std::int64_t>::max();
    double best = std::numeric_limits<double>::infinity();
    for (const Ranked& one : ranked) {
        if (one.candidate.feasible)
            fewest_unknown = std::min(fewest_unknown, one.candidate.prediction.unknown_operators);
    }
    for (const Ranked& one : ranked) {
        if (one.candidate.feasible && one.candidate.prediction.unknown_operators == fewest_unknown)
            best = std::min(best, one.candidate.completion_s);
    }
    for (Ranked& one : ranked) {
        one.tie_with_best = one.candidate.feasible && one.candidate.prediction.unknown_operators == fewest_unknown &&
                            one.candidate.completion_s <= best * (1 + kTieFraction);
    }
}

/// Says of each feasible candidate why it won or what it lost by.
void explain(std::vector<Candidate>& candidates, bool knows_operators)
{
    const Candidate& winner = candidates.front();
    for (Candidate& candidate : candidates) {
        if (!candidate.feasible) continue;
        if (&candidate == &winner) continue;
        const double lost_s = candidate.completion_s - winner.completion_s;
        if (candidate.prediction.unknown_operators > winner.prediction.unknown_operators)
            candidate.reason = "not all of the job's operators are measured there";
        else if (!knows_operators && candidate.wait_s <= winner.wait_s)
            candidate.reason = "starts no earlier, and is not measured faster";
        else if (std::abs(lost_s) <= kTieFraction * winner.completion_s)
            candidate.reason = candidate.wait_s > winner.wait_s ? "as fast, but would start later" : "a tie within 1 %";
        else
            candidate.reason = "would complete " + duration_text(lost_s) + " later (wait " +
                               duration_text(candidate.wait_s) + ", run " + duration_text(candidate.prediction.run_s) +
                               ")";
    }
    if (!knows_operators)
        candidates.front().reason = "earliest start; the fastest measured among those";
    else if (winner.prediction.unknown_operators > 0)
        candidates.front().reason = "best by what is measured";
    else
        candidates.front().reason = "earliest expected completion: wait " + duration_text(winner.wait_s) + ", run " +
                                    duration_text(winner.prediction.run_s);
}

std::vector<std::string> list_assumptions(const RouteRequest& request, const std::vector<Candidate>& candidates)
{
    std::vector<std::string> assumptions;
    if (!request.units.count)
        assumptions.push_back("unit count: auto gives " + std::to_string(request.units.min) +
                              ", since no scaling curve is known");
    if (request.operators.empty())
        assumptions.emplace_back("the job names no operators: its run time is not predicted");
    const Candidate& winner = candidates.front();
    for (const OperatorPrediction& one : winner.prediction.operators) {
        if (one.basis == PredictionBasis::kUnknown)
            assumptions.push_back(one.operator_id + " is not measured on " + winner.center + "/" + winner.unit_type +
                                  ": its time is left out");
        if (one.basis == PredictionBasis::kScaled || one.basis == PredictionBasis::kInterpolated)
            assumptions.push_back(one.operator_id + "(" + one.parameters_key + ") is " +
                                  std::string(to_string(one.basis)) + " from other sizes");
    }
    if (winner.unit_count > 1 && !request.operators.empty())
        assumptions.emplace_back("the run time is that of one unit: how it scales over units is not measured");
    return assumptions;
}

} // namespace

Decision route(const RouteRequest& request, std::span<const UnitTypeView> unit_types)
{
    const bool knows_operators = !request.operators.empty();
    std::vector<Ranked> ranked;
    ranked.reserve(unit_types.size());
    for (const UnitTypeView& view : unit_types)
        ranked.push_back({evaluate(request, view), measured_speed(view)});
    mark_ties(ranked);
    std::sort(ranked.begin(), ranked.end(),
              [&](const Ranked& a, const Ranked& b) { return ranks_before(a, b, knows_operators); });

    Decision decision;
    for (Ranked& one : ranked)
        decision.candidates.push_back(std::move(one.candidate));
    if (decision.candidates.empty() || !decision.candidates.front().feasible) return decision;
    decision.winner = 0;
    decision.can_start_now = decision.candidates.front().wait_s <= 0;
    explain(decision.candidates, knows_operators);
    decision.assumptions = list_assumptions(request, decision.candidates);
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
