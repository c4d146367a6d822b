#include "core/decide/history/run_levels.hpp"

#include "core/base/clock.hpp"
#include "core/base/portable_math.hpp"
#include "core/decide/history/run_history.hpp"
#include "core/decide/history/type_runs.hpp"
#include "core/decide/prediction/predict.hpp"
#include "core/decide/statistics/weighted_median.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace fathom {
namespace {

constexpr double kWildDeviations = 3;
/// Job types that are taken to have met no error of a unit type, beside those that ran there.
constexpr double kPriorTypes = 2;

/// Cuts the wild runs of a cell (step 1) and takes its mean. What is not known yet is what the other runs there leave
/// unknown: of the first run that is all by which types and unit types differ.
void winsorize(UnitRuns& cell, double parent, const Spread& spread)
{
    const double of_units = portable::square(spread.unit_type);
    const double noise_square = portable::square(spread.noise);
    std::vector<WeightedValue> with_prior = cell.residuals;
    with_prior.push_back({parent, std::min(noise_square / of_units, kPriorJobs)});
    const bool is_median_known = cell.has_median();
    const double centre = is_median_known ? weighted_median(std::move(with_prior)) : parent;
    std::vector<WeightedValue> away;
    away.reserve(cell.residuals.size());
    for (const WeightedValue& one : cell.residuals)
        away.push_back({std::abs(one.value - centre), one.weight});
    const double noise = is_median_known ? weighted_deviation(std::move(away), spread.noise, kPriorJobs) : spread.noise;
    double sum = 0;
    for (WeightedValue& one : cell.residuals) {
        const double others = std::max(cell.weight - one.weight, 0.0);
        const double unknown =
            (of_units + portable::square(spread.job_type)) * noise_square / (noise_square + others * of_units);
        const double limit = kWildDeviations * std::sqrt(portable::square(noise) + unknown);
        one.value = std::clamp(one.value, centre - limit, centre + limit);
        sum += one.weight * one.value;
    }
    cell.mean = sum / cell.weight;
}

/// Steps 1 and 2 up to the job types; with the variances from run to run.
void find_means(std::vector<TypeRuns>& types, double centre, const LevelPriors& priors, Spread& spread)
{
    double squares = kPriorJobs * portable::square(priors.noise);
    double count = kPriorJobs;
    double raw_variances = 0;
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
            medians.push_back({cell.median, cell.certainty});
        const double parent = weighted_median(std::move(medians));
        double sum = 0;
        for (UnitRuns& cell : type.cells) {
            winsorize(cell, parent, spread);
            sum += cell.certainty * cell.mean;
            squares += own_squares(cell);
            count += std::max(cell.weight - 1, 0.0);
            raw_variances += cell.weight * cell.raw_variance;
            weights += cell.weight;
        }
        type.mean = sum / type.count;
    }
    spread.noise = std::sqrt(squares / count);
    spread.raw_variance = weights > 0 ? raw_variances / weights : 0;
    for (TypeRuns& type : types) {
        for (UnitRuns& cell : type.cells)
            cell.variance = (kPriorJobs * portable::square(spread.noise) + own_squares(cell)) /
                            (kPriorJobs + std::max(cell.weight - 1, 0.0));
    }
}

/// What of the variance from run to run the raw predictions do not admit.
double excess(double variance, double raw_variance)
{
    return std::max(variance - raw_variance, portable::square(kMinDeviation));
}

/// What all job types have in common; step 3 begins with it.
struct Common {
    double level{};      ///< m
    double of_units{};   ///< τ_u²
    double of_unknown{}; ///< variance of the level of a job type without runs, around m
    double noise{};      ///< from run to run, in excess of what the raw predictions admit
    std::int64_t run_count{};
};

/// Step 2 from the job types up.
Common common_of(const std::vector<TypeRuns>& types, const Spread& spread, const LevelPriors& priors)
{
    const double of_types = portable::square(spread.job_type);
    const double parent = of_types / portable::square(priors.all);
    Common common;
    double sum = 0;
    double weights = 0;
    for (const TypeRuns& type : types) {
        sum += type.certainty * type.mean;
        weights += type.certainty;
        common.run_count += type.run_count;
    }
    common.level = sum / (weights + parent);
    common.of_units = portable::square(spread.unit_type);
    common.of_unknown = of_types + of_types / (weights + parent);
    common.noise = excess(portable::square(spread.noise), spread.raw_variance);
    return common;
}

/// Where a job type stands.
struct Standing {
    double level{};    ///< A_t
    double variance{}; ///< of that
};

Standing standing_of(const TypeRuns& type, const Common& common)
{
    const double f = type.certainty;
    return {.level = common.level + f * (type.mean - common.level),
            .variance =
                portable::square(1 - f) * common.of_unknown + portable::square(f) * common.of_units / type.count};
}

/// Step 4: U_u of one unit type.
/// @param off  y_tu − A_t of the types that ran there, with c.
double unit_error(std::vector<WeightedValue> off, const LevelPriors& priors)
{
    std::vector<WeightedValue> with_prior = off;
    with_prior.push_back({0, kPriorTypes});
    const double error = weighted_median(std::move(with_prior));
    double count = 0;
    for (WeightedValue& one : off) {
        count += one.weight;
        one.value = std::abs(one.value - error);
    }
    const double between = std::max(weighted_deviation(std::move(off), priors.unit_type, 1), kMinDeviation);
    const double of_all = portable::square(priors.all_on_unit_type);
    return error * of_all / (of_all + portable::square(between) / count);
}

/// @param standings  of the types, in their order.
std::map<std::string_view, double> unit_errors(const std::vector<TypeRuns>& types,
                                               const std::vector<Standing>& standings, const LevelPriors& priors)
{
    std::map<std::string_view, std::vector<WeightedValue>> off;
    for (std::size_t i = 0; i < types.size(); ++i) {
        for (const UnitRuns& cell : types[i].cells)
            off[cell.unit_type].push_back({cell.mean - standings[i].level, cell.certainty});
    }
    std::map<std::string_view, double> errors;
    for (auto& [unit_type, of_types] : off)
        errors[unit_type] = unit_error(std::move(of_types), priors);
    return errors;
}

/// Of a job type on a unit type that has run it: B_tu.
/// @param standing  there: with U_u.
RunCorrection correction_on(const UnitRuns& cell, const TypeRuns& type, const Standing& standing, const Common& common)
{
    const double c = cell.certainty;
    const double own = portable::square(c) * cell.variance / cell.weight +
                       portable::square(1 - c) * (common.of_units + standing.variance);
    const auto count = static_cast<std::int64_t>(cell.residuals.size());
    return {.factor = portable::exp(standing.level + c * (cell.mean - standing.level)),
            .deviation = std::sqrt(excess(cell.variance, cell.raw_variance) + own),
            .own_share = c,
            .job_count = count,
            .like_count = type.run_count - count,
            .knows_type = true};
}

} // namespace

LevelPriors priors_of(RawBasis basis)
{
    switch (basis) {
    case RawBasis::kOperators:
        return {.noise = 0.1, .unit_type = 0.2, .job_type = 0.5, .all = 0.2, .all_on_unit_type = 0.05};
    case RawBasis::kReference:
        return {.noise = 0.05, .unit_type = 0.1, .job_type = 0.03, .all = 0.01, .all_on_unit_type = 0.05};
    }
    return {};
}

RunLevels::RunLevels(std::span<const PastRun> runs, Timestamp now, RawBasis basis)
{
    const LevelPriors priors = priors_of(basis);
    std::vector<TypeRuns> types = arrange_runs(runs, now, basis);
    const double centre = overall_median(types);
    Spread spread = find_spread(types, centre, priors);
    set_certainties(types, spread);
    find_means(types, centre, priors, spread);

    const Common common = common_of(types, spread, priors);
    other_level_ = {common.level, common.of_units + common.of_unknown, common.run_count};
    other_ = {.factor = portable::exp(common.level),
              .deviation = std::sqrt(common.noise + common.of_units + common.of_unknown),
              .like_count = common.run_count};
    std::vector<Standing> standings;
    for (const TypeRuns& type : types)
        standings.push_back(standing_of(type, common));
    const std::map<std::string_view, double> errors = unit_errors(types, standings, priors);
    for (const auto& [unit_type, error] : errors) {
        unit_errors_.emplace(unit_type, UnitError{error, portable::exp(error)});
        least_unit_factor_ = std::min(least_unit_factor_, portable::exp(error));
    }
    for (std::size_t i = 0; i < types.size(); ++i) {
        const TypeRuns& type = types[i];
        const Standing& standing = standings[i];
        Type& made = types_[std::string(type.job_type)];
        made.level = {standing.level, common.of_units + standing.variance, type.run_count};
        made.elsewhere = {.factor = portable::exp(standing.level),
                          .deviation = std::sqrt(common.noise + common.of_units + standing.variance),
                          .like_count = type.run_count,
                          .knows_type = true};
        for (const UnitRuns& cell : type.cells)
            made.by_unit_type[std::string(cell.unit_type)] =
                correction_on(cell, type, {standing.level + errors.at(cell.unit_type), standing.variance}, common);
    }
}

RunLevels::UnitError RunLevels::error_of(std::string_view unit_type) const
{
    const auto error = unit_errors_.find(unit_type);
    return error == unit_errors_.end() ? UnitError() : error->second;
}

RunCorrection RunLevels::elsewhere(std::string_view job_type, std::string_view unit_type) const
{
    const auto type = types_.find(job_type);
    RunCorrection correction = type == types_.end() ? other_ : type->second.elsewhere;
    correction.factor *= error_of(unit_type).factor;
    return correction;
}

RunLevels::Level RunLevels::level(std::string_view job_type, std::string_view unit_type) const
{
    const auto type = types_.find(job_type);
    Level level = type == types_.end() ? other_level_ : type->second.level;
    level.log_factor += error_of(unit_type).log_factor;
    return level;
}

RunCorrection RunLevels::find(std::string_view job_type, std::string_view unit_type) const
{
    const auto type = types_.find(job_type);
    if (type != types_.end()) {
        const auto cell = type->second.by_unit_type.find(unit_type);
        if (cell != type->second.by_unit_type.end()) return cell->second;
    }
    return elsewhere(job_type, unit_type);
}

double RunLevels::least_elsewhere(std::string_view job_type) const
{
    const auto type = types_.find(job_type);
    return (type == types_.end() ? other_ : type->second.elsewhere).factor * least_unit_factor_;
}

double RunLevels::least_factor(std::string_view job_type) const
{
    double least = least_elsewhere(job_type);
    const auto type = types_.find(job_type);
    if (type == types_.end()) return least;
    for (const auto& [unit_type, correction] : type->second.by_unit_type)
        least = std::min(least, correction.factor);
    return least;
}

} // namespace fathom
