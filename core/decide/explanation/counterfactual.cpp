#include "core/decide/explanation/counterfactual.hpp"

#include "core/decide/capacity/unit_price.hpp"
#include "core/decide/explanation/route_trial.hpp"
#include "core/decide/prediction/predict.hpp"
#include "core/decide/routing/decision_text.hpp"
#include "core/decide/routing/filters.hpp"
#include "core/decide/routing/route.hpp"
#include "core/decide/routing/unit_type_list.hpp"
#include "core/decide/routing/unit_type_view.hpp"
#include "core/model/money.hpp"
#include "core/model/price_book.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace fathom {
namespace {

constexpr std::size_t kMaxCounterfactuals = 8;
constexpr std::size_t kMaxOfAKind = 3;
/// Runners-up further behind than so many are not tried: what it would take is of no use to anybody.
constexpr std::size_t kMaxTried = 6;
constexpr int kBisections = 16;

/// One that was found, with how near it is: the change as a share of what is changed.
struct Found {
    Counterfactual statement;
    double distance{};
};

double round_down(double value, double step)
{
    return std::floor(value / step + 1e-9) * step;
}

/// The step in which duration_text() shows so long a time.
double duration_step(double seconds)
{
    if (seconds < 120) return step_of(seconds, 2);
    return seconds < 7200 ? 60 : 360;
}

/// The amount nearest to `no` for which `holds` is true, which it is for `yes`.
template <class Holds>
double nearest_true(double yes, double no, Holds holds)
{
    for (int i = 0; i < kBisections; ++i) {
        const double middle = 0.5 * (yes + no);
        (holds(middle) ? yes : no) = middle;
    }
    return yes;
}

Counterfactual statement_of(std::string kind, const Candidate& candidate, double needed, const std::string& text)
{
    return {std::move(kind), candidate.center, candidate.unit_type, needed, place_text(candidate) + " " + text};
}

/// The center's own queue first, then what holds its units.
void shorten_queue(UnitTypeView& view, double by_s)
{
    const double own_s = std::min(by_s, view.queued_s);
    view.queued_s -= own_s;
    view.bring_forward(by_s - own_s);
}

void try_queue(DecisionTrial& trial, std::size_t index, std::vector<Found>& found)
{
    const Candidate& candidate = trial.candidate(index);
    const double most_s = candidate.wait_s + trial.view(index).queued_s;
    if (!(most_s > 0) || !std::isfinite(most_s) || candidate.closed_until_s > 0) return;
    const auto wins = [&](double by_s) {
        return trial.wins_with(index, [by_s](UnitTypeView& view) { shorten_queue(view, by_s); });
    };
    if (!wins(most_s)) return;
    const double least_s = nearest_true(most_s, 0, wins);
    const double needed_s = round_up(least_s, duration_step(least_s));
    if (needed_s >= most_s)
        found.push_back({statement_of("wait", candidate, most_s, "would win if it had free units now"), 1});
    else if (wins(needed_s))
        found.push_back({statement_of("wait", candidate, needed_s,
                                      "would win if its queue were " + duration_text(needed_s) + " shorter"),
                         needed_s / most_s});
}

std::string unit_price_text(double per_hour)
{
    return fmt::format("{:.4g}", per_hour);
}

/// "0.12 EUR per unit-hour"
std::string price_text(double per_hour, std::string_view currency)
{
    return unit_price_text(per_hour) + (currency.empty() ? std::string() : " " + std::string(currency)) +
           " per unit-hour";
}

void try_price(DecisionTrial& trial, std::size_t index, std::string_view currency, std::vector<Found>& found)
{
    const Candidate& candidate = trial.candidate(index);
    const double unit_hours =
        candidate.prediction.run_s * static_cast<double>(candidate.unit_count) / std::chrono::seconds(3600).count();
    if (!(candidate.cost > 0) || !(unit_hours > 0) || trial.request().prefer.cost <= 0) return;
    const auto wins = [&](double per_hour) {
        return trial.wins_with(index, [per_hour](UnitTypeView& view) {
            PriceEntry entry;
            entry.per_unit_hour_micros = to_micros(per_hour);
            if (view.price != nullptr) entry.unit_power_w = view.price->unit_power_w();
            view.price = std::make_shared<UnitPrice>(entry);
        });
    };
    const double now = candidate.cost / unit_hours;
    if (!wins(0)) return;
    const double most = nearest_true(0, now, wins);
    const double needed = round_down(most, step_of(most, 2));
    if (needed < 1e-6 || !wins(needed)) return;
    found.push_back(
        {statement_of("price", candidate, needed,
                      "would win at " + price_text(needed, currency) + " (" + unit_price_text(now) + " now)"),
         1 - needed / now});
}

void try_trust(DecisionTrial& trial, std::size_t index, std::vector<Found>& found)
{
    constexpr double kWorthSaying = 0.99;
    const Candidate& candidate = trial.candidate(index);
    if (candidate.trust_factor >= kWorthSaying) return;
    const auto wins = [&](double factor) {
        return trial.wins_with(index, [factor](UnitTypeView& view) { view.trust_factor = factor; });
    };
    if (!wins(1)) return;
    const double needed = std::min(1.0, round_up(nearest_true(1, candidate.trust_factor, wins), 0.01));
    if (!wins(needed)) return;
    found.push_back(
        {statement_of("trust", candidate, needed,
                      fmt::format("would win if its measurements were trusted to {:.0f} % instead of {:.0f} %",
                                  100 * needed, 100 * candidate.trust_factor)),
         needed - candidate.trust_factor});
}

/// As if the operators that were never measured there took `total_s` together on one unit.
void measure_unknown(UnitTypeView& view, const Candidate& candidate, const RouteRequest& request, double total_s)
{
    const auto unknown = static_cast<double>(candidate.prediction.unknown_operators);
    for (std::size_t i = 0; i < request.operators.size() && i < candidate.prediction.operators.size(); ++i) {
        if (candidate.prediction.operators[i].basis != PredictionBasis::kUnknown) continue;
        const OperatorDemand& demand = request.operators[i];
        MeasuredOperator one;
        one.operator_id = demand.operator_id;
        one.parameters_key = demand.parameters_key;
        one.operations = demand.operations;
        one.bytes = demand.bytes;
        one.median_s = total_s / (unknown * static_cast<double>(std::max<std::int64_t>(demand.count, 1)));
        one.start_up_s = candidate.prediction.start_up_s;
        one.measured_at = request.transfer.now;
        view.measured.push_back(std::move(one));
    }
}

void try_measurement(DecisionTrial& trial, std::size_t index, std::vector<Found>& found)
{
    constexpr double kMinSeconds = 1e-6;
    const Candidate& candidate = trial.candidate(index);
    if (candidate.prediction.unknown_operators == 0) return;
    const auto wins = [&](double total_s) {
        return trial.wins_with(index,
                               [&](UnitTypeView& view) { measure_unknown(view, candidate, trial.request(), total_s); });
    };
    const double limit_s = 10 * trial.winner()->completion_s + 1;
    if (!wins(kMinSeconds)) return;
    const double most_s = nearest_true(kMinSeconds, limit_s, wins);
    const double needed_s = round_down(most_s, duration_step(most_s));
    if (needed_s <= kMinSeconds || !wins(needed_s)) return;
    std::string names;
    for (const OperatorPrediction& one : candidate.prediction.operators) {
        const bool is_named = names.find(one.operator_id) != std::string::npos;
        if (one.basis == PredictionBasis::kUnknown && !is_named) names += (names.empty() ? "" : ", ") + one.operator_id;
    }
    found.push_back({statement_of("measurement", candidate, needed_s,
                                  "would win if " + names + ", never measured there, took at most " +
                                      duration_text(needed_s) + (candidate.unit_count > 1 ? " on one unit" : "")),
                     0.5});
}

void try_limits(DecisionTrial& trial, std::size_t index, std::string_view currency, std::vector<Found>& found)
{
    const Candidate& candidate = trial.candidate(index);
    const std::string wins_text = trial.winner() == nullptr ? "could run it if the " : "would win if the ";
    RouteRequest request = trial.request();
    if (candidate.removed_by == Filter::kDeadline && std::isfinite(candidate.completion_s)) {
        const Timestamp now = request.transfer.now;
        const double left_s = Seconds(*request.transfer.deadline - now).count();
        request.transfer.deadline = kept_deadline(now, candidate.completion_s);
        const double needed_s = Seconds(*request.transfer.deadline - now).count();
        if (trial.wins(trial.decide(request), index))
            found.push_back({statement_of("deadline", candidate, needed_s,
                                          wins_text + "deadline were " + moment_text(*request.transfer.deadline, now)),
                             needed_s / std::max(left_s, 1.0) - 1});
    }
    if (candidate.removed_by == Filter::kBudget && std::isfinite(candidate.cost)) {
        const double needed = kept_budget(candidate.cost);
        const double before = *request.budget;
        request.budget = needed;
        if (trial.wins(trial.decide(request), index))
            found.push_back(
                {statement_of("budget", candidate, needed, wins_text + "budget were " + cost_text(needed, currency)),
                 needed / before - 1});
    }
}

/// "4.20 EUR instead of 6.10 EUR, 12 min later": what another winner would bring.
std::string difference_text(const Candidate& other, const Candidate& winner, std::string_view currency)
{
    std::string text;
    const auto add = [&text](const std::string& part) { text += (text.empty() ? "" : ", ") + part; };
    const double later_s = other.completion_s - winner.completion_s;
    if (other.cost > 0 || winner.cost > 0)
        add(cost_text(other.cost, currency) + " instead of " + cost_text(winner.cost, currency));
    if (other.energy_j > 0 && winner.energy_j > 0)
        add(energy_text(other.energy_j) + " instead of " + energy_text(winner.energy_j));
    if (std::abs(later_s) > 0.001 * winner.completion_s)
        add(duration_text(std::abs(later_s)) + (later_s > 0 ? " later" : " earlier"));
    return text.empty() ? text : " (" + text + ")";
}

void try_preferences(DecisionTrial& trial, std::string_view currency, std::vector<Found>& found)
{
    struct Wish {
        const char* name;
        Preference preference;
        double Candidate::* amount;
    };
    const std::array<Wish, 3> wishes{{{"fastest", {.time = 1, .cost = 0, .energy = 0}, &Candidate::completion_s},
                                      {"cheapest", {.time = 0, .cost = 1, .energy = 0}, &Candidate::cost},
                                      {"greenest", {.time = 0, .cost = 0, .energy = 1}, &Candidate::energy_j}}};
    const Candidate* winner = trial.winner();
    if (winner == nullptr) return;
    for (const Wish& wish : wishes) {
        RouteRequest request = trial.request();
        request.prefer = wish.preference;
        const Decision decision = trial.decide(request);
        if (!decision.winner) continue;
        const Candidate& other = decision.candidates[*decision.winner];
        const bool is_better = other.*wish.amount < winner->*wish.amount;
        // No figure of its energy is no reason to call a place green.
        const bool is_known = wish.amount != &Candidate::energy_j || other.energy_j > 0;
        if (other.unit_type_id == winner->unit_type_id || !is_better || !is_known) continue;
        found.push_back({statement_of("preference", other, 0,
                                      "would win if you asked for the " + std::string(wish.name) +
                                          difference_text(other, *winner, currency)),
                         0.6});
    }
}

/// Another count than the one that the job asks for.
void try_counts(DecisionTrial& trial, std::string_view currency, std::vector<Found>& found)
{
    RouteRequest request = trial.request();
    if (!request.units.count) return;
    const std::int64_t asked = *request.units.count;
    const auto add = [&](const Decision& decision, const std::string& how) {
        if (!decision.winner) return;
        const Candidate& other = decision.candidates[*decision.winner];
        const Candidate* winner = trial.winner();
        if (other.unit_count == asked || (winner != nullptr && other.unit_type_id == winner->unit_type_id)) return;
        const std::string gain = winner == nullptr ? "" : difference_text(other, *winner, currency);
        found.push_back({statement_of("units", other, static_cast<double>(other.unit_count),
                                      (winner == nullptr ? "could run it " : "would win ") + how + gain),
                         0.7});
    };
    for (std::size_t i = 0; i < trial.size(); ++i) {
        if (trial.candidate(i).removed_by != Filter::kUnitCount || trial.view(i).unit_count < 1) continue;
        request.units.count = trial.view(i).unit_count;
        const Decision decision = trial.decide(request);
        if (trial.wins(decision, i))
            add(decision, "with " + units_text(trial.view(i).unit_count) + " instead of " + std::to_string(asked));
    }
    request = trial.request();
    request.units.count.reset();
    const Decision decision = trial.decide(request);
    if (decision.winner)
        add(decision,
            "on " + units_text(decision.candidates[*decision.winner].unit_count) + " if the count were left open");
}

/// The nearest, and of none kind more than a few.
std::vector<Counterfactual> nearest_of(std::vector<Found> found)
{
    const auto key = [](const Found& one) {
        return std::tie(one.distance, one.statement.kind, one.statement.center, one.statement.unit_type,
                        one.statement.text);
    };
    std::sort(found.begin(), found.end(), [&](const Found& a, const Found& b) { return key(a) < key(b); });
    std::vector<Counterfactual> nearest;
    for (Found& one : found) {
        const auto of_kind = std::count_if(nearest.begin(), nearest.end(), [&](const Counterfactual& other) {
            return other.kind == one.statement.kind;
        });
        if (nearest.size() == kMaxCounterfactuals) break;
        if (of_kind < static_cast<std::ptrdiff_t>(kMaxOfAKind)) nearest.push_back(std::move(one.statement));
    }
    return nearest;
}

} // namespace

std::vector<Counterfactual> find_counterfactuals(DecisionTrial& trial, std::string_view currency)
{
    std::vector<Found> found;
    // What takes one decision each comes first: there may be no time for all.
    try_preferences(trial, currency, found);
    try_counts(trial, currency, found);
    for (std::size_t i = 0; i < trial.size(); ++i)
        try_limits(trial, i, currency, found);
    std::size_t tried = 0;
    for (std::size_t i = 0; i < trial.size(); ++i) {
        if (!trial.is_runner_up(i) || tried++ >= kMaxTried) continue;
        try_queue(trial, i, found);
        try_price(trial, i, currency, found);
        try_trust(trial, i, found);
        try_measurement(trial, i, found);
    }
    return nearest_of(std::move(found));
}

std::vector<Counterfactual> find_counterfactuals(const RouteRequest& request, const Decision& decision,
                                                 const UnitTypeList& unit_types, const RouteKnowledge& knowledge,
                                                 std::string_view currency)
{
    RouteTrial trial(request, decision, unit_types, knowledge);
    if (!trial.is_valid()) return {};
    return find_counterfactuals(trial, currency);
}

} // namespace fathom
