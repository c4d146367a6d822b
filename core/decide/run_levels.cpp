#include "core/decide/run_levels.hpp"

#include "core/base/portable_math.hpp"
#include "core/decide/run_calibration.hpp"
#include "core/decide/weighted_median.hpp"

#include <algorithm>
#include <cmath>
#include <tuple>
#include <vector>

namespace fathom {
namespace {

/// Deviations of r before there are runs to tell: from run to run, and of a level from its parent.
constexpr double kPriorNoise = 0.1;
constexpr double kPriorLevel = 0.2;
/// No history knows better.
constexpr double kLeastDeviation = 0.02;
constexpr double kWildDeviations = 3;

/// The runs of one job type on one unit type.
struct UnitRuns {
    std::string_view unit_type;
    std::vector<WeightedValue> residuals;
    double promise_variance{}; ///< that the promises admit, on average
    double weight{};
    double median{};
    double mean{};     ///< y_tu
    double variance{}; ///< from run to run

    double certainty() const { return weight / (weight + kPriorJobs); } ///< c
};

struct TypeRuns {
    std::string_view job_type;
    std::vector<UnitRuns> cells;
    double median{};
    double mean{};  ///< y_t
    double count{}; ///< Σ c
    std::int64_t run_count{};

    double certainty() const { return count / (count + 1); } ///< f
};

/// How much things differ.
struct Spread {
    double noise{};     ///< from run to run
    double unit_type{}; ///< of a unit type from its job type
    double job_type{};  ///< of a job type from all
    double promise_variance{};
};

double promise_variance(const PastRun& run)
{
    if (!is_time(run.promised_low_s) || !is_time(run.promised_high_s)) return 0;
    return portable::square(portable::log(run.promised_high_s / run.promised_low_s) / (2 * kWidthOf80Percent));
}

struct Residual {
    double value{}; ///< r
    double weight{};
    double promise_variance{};
};

/// Sums of floating-point numbers depend on their order, and runs come in any: they are sorted first.
UnitRuns sum_up(std::string_view unit_type, std::vector<Residual> residuals)
{
    std::sort(residuals.begin(), residuals.end(), [](const Residual& a, const Residual& b) {
        return std::tie(a.value, a.weight, a.promise_variance) < std::tie(b.value, b.weight, b.promise_variance);
    });
    UnitRuns cell;
    cell.unit_type = unit_type;
    for (const Residual& one : residuals) {
        cell.residuals.push_back({one.value, one.weight});
        cell.weight += one.weight;
        cell.promise_variance += one.weight * one.promise_variance;
    }
    cell.promise_variance /= cell.weight;
    cell.median = weighted_median(cell.residuals);
    return cell;
}

std::vector<TypeRuns> arrange(std::span<const PastRun> runs, Timestamp now)
{
    std::map<std::string_view, std::map<std::string_view, std::vector<Residual>>> cells;
    for (const PastRun& run : runs) {
        if (!is_time(run.promised_s) || !is_time(run.actual_s)) continue;
        const double residual = portable::log(run.actual_s) - portable::log(run.promised_s);
        const double weight = recency(run.ended_at, now);
        if (!(weight > 0)) continue;
        cells[run.job_type][run.unit_type].push_back({residual, weight, promise_variance(run)});
    }
    std::vector<TypeRuns> types;
    for (auto& [job_type, by_unit_type] : cells) {
        TypeRuns& type = types.emplace_back();
        type.job_type = job_type;
        for (auto& [unit_type, residuals] : by_unit_type) {
            UnitRuns cell = sum_up(unit_type, std::move(residuals));
            type.count += cell.certainty();
            type.run_count += static_cast<std::int64_t>(cell.residuals.size());
            type.cells.push_back(std::move(cell));
        }
        std::vector<WeightedValue> medians;
        for (const UnitRuns& cell : type.cells)
            medians.push_back({cell.median, cell.certainty()});
        type.median = weighted_median(std::move(medians));
    }
    return types;
}

double overall_median(const std::vector<TypeRuns>& types)
{
    std::vector<WeightedValue> medians{{0, 1}};
    for (const TypeRuns& type : types)
        medians.push_back({type.median, type.certainty()});
    return weighted_median(std::move(medians));
}

/// Told by medians of absolute deviations, so that neither a wild run nor a wild unit type makes all others unsure.
Spread find_spread(const std::vector<TypeRuns>& types, double centre)
{
    std::vector<WeightedValue> noise;
    std::vector<WeightedValue> of_units;
    std::vector<WeightedValue> of_types;
    for (const TypeRuns& type : types) {
        of_types.push_back({std::abs(type.median - centre), type.certainty()});
        const auto cells = static_cast<double>(type.cells.size());
        for (const UnitRuns& cell : type.cells) {
            // Of one or two runs the median leaves nothing to see, nor does that of one unit type.
            for (const WeightedValue& one : cell.residuals) {
                if (cell.residuals.size() > 2) noise.push_back({std::abs(one.value - cell.median), one.weight});
            }
            const double unseen = std::sqrt(cells / std::max(cells - 1, 1.0));
            if (cells > 1) of_units.push_back({unseen * std::abs(cell.median - type.median), cell.certainty()});
        }
    }
    return {.noise = weighted_deviation(std::move(noise), kPriorNoise, kPriorJobs),
            .unit_type = weighted_deviation(std::move(of_units), kPriorLevel, 1),
            .job_type = weighted_deviation(std::move(of_types), kPriorLevel, 1),
            .promise_variance = 0};
}

/// Cuts the wild runs of a cell (step 1) and takes its mean.
void winsorize(UnitRuns& cell, double parent, const Spread& spread)
{
    std::vector<WeightedValue> with_prior = cell.residuals;
    with_prior.push_back({parent, kPriorJobs});
    const double centre = weighted_median(std::move(with_prior));
    std::vector<WeightedValue> away;
    for (const WeightedValue& one : cell.residuals)
        away.push_back({std::abs(one.value - centre), one.weight});
    const double noise = weighted_deviation(std::move(away), spread.noise, kPriorJobs);
    const double unknown =
        (portable::square(spread.unit_type) + portable::square(spread.job_type)) * (1 - cell.certainty());
    const double limit = kWildDeviations * std::sqrt(portable::square(noise) + unknown);
    double sum = 0;
    for (WeightedValue& one : cell.residuals) {
        one.value = std::clamp(one.value, centre - limit, centre + limit);
        sum += one.weight * one.value;
    }
    cell.mean = sum / cell.weight;
}

/// Steps 1 and 2 up to the job types; with the variances from run to run.
void find_means(std::vector<TypeRuns>& types, double centre, Spread& spread)
{
    double squares = kPriorJobs * portable::square(kPriorNoise);
    double count = kPriorJobs;
    double promises = 0;
    double weights = 0;
    const auto own_squares = [](const UnitRuns& cell) {
        double sum = 0;
        for (const WeightedValue& one : cell.residuals)
            sum += one.weight * portable::square(one.value - cell.mean);
        return sum;
    };
    for (TypeRuns& type : types) {
        std::vector<WeightedValue> medians{{centre, 1}};
        for (const UnitRuns& cell : type.cells)
            medians.push_back({cell.median, cell.certainty()});
        const double parent = weighted_median(std::move(medians));
        double sum = 0;
        for (UnitRuns& cell : type.cells) {
            winsorize(cell, parent, spread);
            sum += cell.certainty() * cell.mean;
            squares += own_squares(cell);
            count += std::max(cell.weight - 1, 0.0);
            promises += cell.weight * cell.promise_variance;
            weights += cell.weight;
        }
        type.mean = sum / type.count;
    }
    spread.noise = std::sqrt(squares / count);
    spread.promise_variance = weights > 0 ? promises / weights : 0;
    for (TypeRuns& type : types) {
        for (UnitRuns& cell : type.cells)
            cell.variance = (kPriorJobs * portable::square(spread.noise) + own_squares(cell)) /
                            (kPriorJobs + std::max(cell.weight - 1, 0.0));
    }
}

/// What of the variance from run to run the promises do not admit.
double excess(double variance, double promise_variance)
{
    return std::max(variance - promise_variance, portable::square(kLeastDeviation));
}

} // namespace

RunLevels::RunLevels(std::span<const PastRun> runs, Timestamp now)
{
    std::vector<TypeRuns> types = arrange(runs, now);
    if (types.empty()) return;
    const double centre = overall_median(types);
    Spread spread = find_spread(types, centre);
    find_means(types, centre, spread);

    double sum = 0;
    double weights = 0;
    std::int64_t run_count = 0;
    for (const TypeRuns& type : types) {
        sum += type.certainty() * type.mean;
        weights += type.certainty();
        run_count += type.run_count;
    }
    const double common = sum / (weights + 1);
    const double common_variance = portable::square(kPriorLevel) / (weights + 1);
    const double noise = excess(portable::square(spread.noise), spread.promise_variance);
    const double of_types = portable::square(spread.job_type) + common_variance;
    const double of_units = portable::square(spread.unit_type);
    other_ = {.factor = portable::exp(common),
              .deviation = std::sqrt(noise + of_units + of_types),
              .job_count = 0,
              .like_count = run_count};
    for (const TypeRuns& type : types) {
        const double f = type.certainty();
        const double level = common + f * (type.mean - common);
        const double level_variance =
            portable::square(1 - f) * of_types + portable::square(f) * of_units / std::max(type.count, 1.0);
        RunLevels::Type& made = types_[std::string(type.job_type)];
        made.elsewhere = {.factor = portable::exp(level),
                          .deviation = std::sqrt(noise + of_units + level_variance),
                          .job_count = 0,
                          .like_count = type.run_count};
        for (const UnitRuns& cell : type.cells) {
            const double c = cell.certainty();
            const double own = portable::square(c) * cell.variance / cell.weight +
                               portable::square(1 - c) * (of_units + level_variance);
            const auto count = static_cast<std::int64_t>(cell.residuals.size());
            made.by_unit_type[std::string(cell.unit_type)] = {
                .factor = portable::exp(level + c * (cell.mean - level)),
                .deviation = std::sqrt(excess(cell.variance, cell.promise_variance) + own),
                .job_count = count,
                .like_count = type.run_count - count};
        }
    }
}

RunCorrection RunLevels::find(std::string_view job_type, std::string_view unit_type) const
{
    const auto type = types_.find(job_type);
    if (type == types_.end()) return other_;
    const auto cell = type->second.by_unit_type.find(unit_type);
    return cell == type->second.by_unit_type.end() ? type->second.elsewhere : cell->second;
}

double RunLevels::least_factor(std::string_view job_type) const
{
    const auto type = types_.find(job_type);
    if (type == types_.end()) return other_.factor;
    double least = type->second.elsewhere.factor;
    for (const auto& [unit_type, correction] : type->second.by_unit_type)
        least = std::min(least, correction.factor);
    return least;
}

} // namespace fathom
