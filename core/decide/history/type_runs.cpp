#include "core/decide/history/type_runs.hpp"

#include "core/base/clock.hpp"
#include "core/base/portable_math.hpp"
#include "core/decide/history/run_calibration.hpp"
#include "core/decide/history/run_history.hpp"
#include "core/decide/history/run_levels.hpp"
#include "core/decide/prediction/predict.hpp"
#include "core/decide/statistics/weighted_median.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace fathom {
namespace {

/// Of many normal values: the variance of their median over that of their mean, pi / 2; and their standard deviation
/// over the median of absolute deviations.
constexpr double kVarianceOfMedian = 1.5708;
constexpr double kDeviationOfMedian = 1.4826;
/// Runs of a cell that are compared with each other.
constexpr std::size_t kMaxCompared = 16;

double raw_variance(const PastRun& run)
{
    if (!is_time(run.raw_low_s) || !is_time(run.raw_high_s)) return 0;
    return portable::square(portable::log(run.raw_high_s / run.raw_low_s) / (2 * kWidthOf80Percent));
}

struct Residual {
    double value{}; ///< r
    double weight{};
    double raw_variance{};
};

/// Sums of floating-point numbers depend on their order, and runs come in any: they are sorted first.
UnitRuns sum_up(std::string_view unit_type, std::vector<Residual> residuals)
{
    std::sort(residuals.begin(), residuals.end(), [](const Residual& a, const Residual& b) {
        return std::tie(a.value, a.weight, a.raw_variance) < std::tie(b.value, b.weight, b.raw_variance);
    });
    UnitRuns cell;
    cell.unit_type = unit_type;
    for (const Residual& one : residuals) {
        cell.residuals.push_back({one.value, one.weight});
        cell.weight += one.weight;
        cell.raw_variance += one.weight * one.raw_variance;
    }
    cell.raw_variance /= cell.weight;
    cell.median = weighted_median(cell.residuals);
    return cell;
}

/// An absolute deviation without what chance alone brings into it, both as medians: that of a normal distribution is
/// its standard deviation / kDeviationOfMedian. Where few runs tell where things stand, they seem to differ by the
/// noise of these runs, and each of them would be believed the more for it.
double beyond_chance(double away, double chance_variance)
{
    return std::sqrt(std::max(portable::square(away) - chance_variance / portable::square(kDeviationOfMedian), 0.0));
}

/// The variance of where the runs of a cell stand, by their noise: of a median that of the mean times pi / 2.
double chance_of(const UnitRuns& cell, double noise)
{
    const double of_mean = portable::square(noise) / cell.weight;
    return cell.has_median() ? of_mean * kVarianceOfMedian : of_mean;
}

/// The same of a job type, of which unit types differ too.
double chance_of(const TypeRuns& type, double noise, double unit_type)
{
    double sum = 0;
    for (const UnitRuns& cell : type.cells)
        sum += portable::square(cell.certainty) * (portable::square(unit_type) + portable::square(noise) / cell.weight);
    return sum / portable::square(type.count);
}

/// How far the runs of a cell are from each other. Each of few runs is near their median, which is made of them, so
/// that deviations from it would be too small; half the square of the difference of two runs is their variance, however
/// few there are. Of many runs the deviations are as good, and fewer.
void add_differences(const UnitRuns& cell, std::vector<WeightedValue>& away)
{
    const std::span<const WeightedValue> runs = cell.residuals;
    if (runs.size() > kMaxCompared) {
        for (const WeightedValue& one : runs)
            away.push_back({std::abs(one.value - cell.median), one.weight});
        return;
    }
    for (std::size_t i = 1; i < runs.size(); ++i) {
        for (std::size_t j = 0; j < i; ++j) {
            // All together weigh what the runs do.
            const double weight = (runs[i].weight + runs[j].weight) / static_cast<double>(runs.size() - 1);
            away.push_back({std::abs(runs[i].value - runs[j].value) / std::sqrt(2.0), weight});
        }
    }
}

double noise_between_runs(const std::vector<TypeRuns>& types, const LevelPriors& priors)
{
    std::vector<WeightedValue> away;
    for (const TypeRuns& type : types) {
        for (const UnitRuns& cell : type.cells)
            add_differences(cell, away);
    }
    return std::max(weighted_deviation(std::move(away), priors.noise, kPriorJobs), kMinDeviation);
}

} // namespace

void set_certainties(std::vector<TypeRuns>& types, const Spread& spread)
{
    const double noise = portable::square(spread.noise);
    const double of_units = portable::square(spread.unit_type);
    const double of_types = portable::square(spread.job_type);
    for (TypeRuns& type : types) {
        type.count = 0;
        for (UnitRuns& cell : type.cells) {
            cell.certainty = of_units / (of_units + noise / cell.weight);
            type.count += cell.certainty;
        }
        type.certainty = of_types / (of_types + of_units / type.count);
    }
}

std::vector<TypeRuns> arrange_runs(std::span<const PastRun> runs, Timestamp now, RawBasis basis)
{
    std::map<std::string_view, std::map<std::string_view, std::vector<Residual>>> cells;
    for (const PastRun& run : runs) {
        if (run.basis != basis || !is_time(run.raw_s) || !is_time(run.actual_s)) continue;
        const double residual = portable::log(run.actual_s) - portable::log(run.raw_s);
        const double weight = recency(run.ended_at, now);
        if (!(weight > 0)) continue;
        cells[run.job_type][run.unit_type].push_back({residual, weight, raw_variance(run)});
    }
    std::vector<TypeRuns> types;
    for (auto& [job_type, by_unit_type] : cells) {
        TypeRuns& type = types.emplace_back();
        type.job_type = job_type;
        for (auto& [unit_type, residuals] : by_unit_type) {
            UnitRuns cell = sum_up(unit_type, std::move(residuals));
            type.run_count += static_cast<std::int64_t>(cell.residuals.size());
            type.cells.push_back(std::move(cell));
        }
    }
    const LevelPriors priors = priors_of(basis);
    set_certainties(types, {priors.noise, priors.unit_type, priors.job_type, 0});
    for (TypeRuns& type : types) {
        std::vector<WeightedValue> medians;
        medians.reserve(type.cells.size());
        for (const UnitRuns& cell : type.cells)
            medians.push_back({cell.median, cell.certainty});
        type.median = weighted_median(std::move(medians));
    }
    return types;
}

double overall_median(const std::vector<TypeRuns>& types)
{
    std::vector<WeightedValue> medians{{0, 1}};
    for (const TypeRuns& type : types)
        medians.push_back({type.median, type.certainty});
    return weighted_median(std::move(medians));
}

Spread find_spread(const std::vector<TypeRuns>& types, double centre, const LevelPriors& priors)
{
    Spread spread{.noise = noise_between_runs(types, priors)};
    std::vector<WeightedValue> of_units;
    for (const TypeRuns& type : types) {
        const auto cells = static_cast<double>(type.cells.size());
        if (type.cells.size() < 2) continue; // of one the median leaves nothing to see
        const double unseen = std::sqrt(cells / (cells - 1));
        for (const UnitRuns& cell : type.cells) {
            const double away = unseen * std::abs(cell.median - type.median);
            of_units.push_back({beyond_chance(away, chance_of(cell, spread.noise)), cell.certainty});
        }
    }
    spread.unit_type = std::max(weighted_deviation(std::move(of_units), priors.unit_type, 1), kMinDeviation);
    std::vector<WeightedValue> of_types;
    of_types.reserve(types.size());
    for (const TypeRuns& type : types) {
        const double chance = chance_of(type, spread.noise, spread.unit_type);
        of_types.push_back({beyond_chance(std::abs(type.median - centre), chance), type.certainty});
    }
    spread.job_type = std::max(weighted_deviation(std::move(of_types), priors.job_type, 1), kMinDeviation);
    return spread;
}

} // namespace fathom
