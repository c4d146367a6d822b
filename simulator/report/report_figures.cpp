#include "simulator/report/report_figures.hpp"

#include "cli/text/format_units.hpp"
#include "simulator/figures/confidence.hpp"
#include "simulator/figures/no_figure.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace fathom::simulation {
namespace {

constexpr double kSmallestShown = 0.01; ///< of numbers around 1 and above

enum class Shape { kDuration, kNumber, kIndex, kShare, kMoney, kEnergy, kCount };

double share(std::int64_t part, std::int64_t whole)
{
    return whole > 0 ? static_cast<double>(part) / static_cast<double>(whole) : kNoFigure;
}

struct FigureKind {
    FigureId figure{};
    Shape shape{};
    BetterIs better{};
    double (*value)(const Figures&, const SimulationResult&) = nullptr;
};

constexpr std::array<FigureKind, static_cast<std::size_t>(FigureId::kCount)> kKinds{{
    {FigureId::kMeanCompletion, Shape::kDuration, BetterIs::kLess,
     [](const Figures& f, const SimulationResult&) { return f.mean_completion_s; }},
    {FigureId::kMedianCompletion, Shape::kDuration, BetterIs::kLess,
     [](const Figures& f, const SimulationResult&) { return f.median_completion_s; }},
    {FigureId::kP95Completion, Shape::kDuration, BetterIs::kLess,
     [](const Figures& f, const SimulationResult&) { return f.p95_completion_s; }},
    {FigureId::kP99Completion, Shape::kDuration, BetterIs::kLess,
     [](const Figures& f, const SimulationResult&) { return f.p99_completion_s; }},
    {FigureId::kMeanWait, Shape::kDuration, BetterIs::kLess,
     [](const Figures& f, const SimulationResult&) { return f.mean_wait_s; }},
    {FigureId::kP95Wait, Shape::kDuration, BetterIs::kLess,
     [](const Figures& f, const SimulationResult&) { return f.p95_wait_s; }},
    {FigureId::kMaxWait, Shape::kDuration, BetterIs::kLess,
     [](const Figures& f, const SimulationResult&) { return f.max_wait_s; }},
    {FigureId::kMeanSlowdown, Shape::kNumber, BetterIs::kLess,
     [](const Figures& f, const SimulationResult&) { return f.mean_slowdown; }},
    {FigureId::kP95Slowdown, Shape::kNumber, BetterIs::kLess,
     [](const Figures& f, const SimulationResult&) { return f.p95_slowdown; }},
    {FigureId::kMaxSlowdown, Shape::kNumber, BetterIs::kLess,
     [](const Figures& f, const SimulationResult&) { return f.max_slowdown; }},
    {FigureId::kJainProjects, Shape::kIndex, BetterIs::kMore,
     [](const Figures& f, const SimulationResult&) { return f.jain_projects; }},
    {FigureId::kJainJobs, Shape::kIndex, BetterIs::kMore,
     [](const Figures& f, const SimulationResult&) { return f.jain_jobs; }},
    {FigureId::kMeanFinishTimeFairness, Shape::kNumber, BetterIs::kLess,
     [](const Figures& f, const SimulationResult&) { return f.mean_finish_time_fairness; }},
    {FigureId::kP95FinishTimeFairness, Shape::kNumber, BetterIs::kLess,
     [](const Figures& f, const SimulationResult&) { return f.p95_finish_time_fairness; }},
    {FigureId::kUnfairShare, Shape::kShare, BetterIs::kLess,
     [](const Figures& f, const SimulationResult&) { return f.unfair_share; }},
    {FigureId::kUtilization, Shape::kShare, BetterIs::kNeither,
     [](const Figures& f, const SimulationResult&) { return f.utilization; }},
    {FigureId::kCost, Shape::kMoney, BetterIs::kLess, [](const Figures& f, const SimulationResult&) { return f.cost; }},
    {FigureId::kEnergy, Shape::kEnergy, BetterIs::kLess,
     [](const Figures& f, const SimulationResult&) { return f.energy_kwh; }},
    {FigureId::kIdleEnergy, Shape::kEnergy, BetterIs::kLess,
     [](const Figures& f, const SimulationResult&) { return f.idle_energy_kwh; }},
    {FigureId::kMissedDeadlines, Shape::kShare, BetterIs::kLess,
     [](const Figures& f, const SimulationResult&) { return share(f.missed_deadline, f.with_deadline); }},
    {FigureId::kImpossible, Shape::kCount, BetterIs::kNeither,
     [](const Figures& f, const SimulationResult&) { return static_cast<double>(f.impossible); }},
    {FigureId::kUnfinished, Shape::kCount, BetterIs::kNeither,
     [](const Figures& f, const SimulationResult&) { return static_cast<double>(f.unfinished); }},
    {FigureId::kFailedAttempts, Shape::kCount, BetterIs::kNeither,
     [](const Figures& f, const SimulationResult&) { return static_cast<double>(f.failed_attempts); }},
    {FigureId::kPredictionError, Shape::kShare, BetterIs::kLess,
     [](const Figures& f, const SimulationResult&) { return f.prediction_error; }},
    {FigureId::kDecisionsPerSecond, Shape::kNumber, BetterIs::kNeither,
     [](const Figures&, const SimulationResult& r) {
         return r.decide_wall_s > 0 ? static_cast<double>(r.decisions) / r.decide_wall_s : kNoFigure;
     }},
}};

constexpr const FigureKind& kind_of(FigureId figure)
{
    return kKinds[static_cast<std::size_t>(figure)];
}

constexpr bool are_in_order()
{
    for (std::size_t i = 0; i < kKinds.size(); ++i) {
        if (kKinds[i].figure != static_cast<FigureId>(i)) return false;
    }
    return true;
}
static_assert(are_in_order());

} // namespace

BetterIs better_of(FigureId figure)
{
    return kind_of(figure).better;
}

double value_of(FigureId figure, const Figures& figures, const SimulationResult& result)
{
    return kind_of(figure).value(figures, result);
}

Confidence over_seeds(const PolicyGroup& policy, FigureId figure,
                      const std::function<const Figures&(const PolicyRun&)>& part)
{
    return over_seeds(policy, [&](const PolicyRun& run) { return value_of(figure, part(run), run.result); });
}

std::string shown(FigureId figure, double value, const std::string& currency)
{
    if (!std::isfinite(value)) return "–";
    switch (kind_of(figure).shape) {
    case Shape::kDuration:
        return cli::format_duration(value);
    case Shape::kNumber:
        return std::abs(value) < kSmallestShown ? "0.00" : cli::format_number(value);
    case Shape::kIndex:
        return fmt::format("{:.3f}", value);
    case Shape::kShare:
        return cli::format_percent(value);
    case Shape::kMoney:
        return cli::format_number(value) + " " + currency;
    case Shape::kEnergy:
        return cli::format_number(value) + " kWh";
    case Shape::kCount:
        return shown_count(value);
    }
    return cli::format_number(value);
}

std::string shown_count(double value)
{
    return value == std::round(value) ? cli::format_count(std::llround(value)) : cli::format_number(value);
}

std::string shown(FigureId figure, const Confidence& value, const std::string& currency)
{
    std::string text = shown(figure, value.mean, currency);
    if (std::isfinite(value.half_width)) text += " ± " + shown(figure, value.half_width, currency);
    return text;
}

} // namespace fathom::simulation
