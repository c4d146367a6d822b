#include "core/decide/history/typical_time.hpp"

#include "core/base/clock.hpp"
#include "core/base/portable_math.hpp"
#include "core/decide/history/run_calibration.hpp"
#include "core/decide/history/run_history.hpp"
#include "core/decide/prediction/predict.hpp"
#include "core/decide/statistics/weighted_median.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace fathom {
namespace {

constexpr double kPriorRuns = 4;
/// Deviations of ln(time) before there are runs to tell, as if kPriorRuns runs, or one cell or type, had said so.
constexpr double kPriorRunDeviation = 0.5;
constexpr double kPriorCellDeviation = 0.5;
constexpr double kPriorTypeDeviation = 1;
constexpr int kTurns = 30;
/// A run counts half after so many newer ones of its type there: what a program takes now is seen after a few.
constexpr double kHalfLife_runs = 3;
/// Of runs so old that they hardly count; else their interval would have no end.
constexpr double kMinWeight = 0.1;

std::string counted(std::int64_t count, const char* noun)
{
    return std::to_string(count) + " " + noun + (count == 1 ? "" : "s");
}

RunEstimate to_estimate(double level, double deviation, std::string basis, std::int64_t count)
{
    const double run_s = portable::exp(level);
    const double width = portable::exp(kWidthOf80Percent * deviation);
    return {{run_s, run_s / width, run_s * width}, std::move(basis), count};
}

double median_deviation(const std::vector<WeightedValue>& values, double centre, double prior)
{
    std::vector<WeightedValue> away;
    away.reserve(values.size());
    for (const WeightedValue& one : values)
        away.push_back({std::abs(one.value - centre), one.weight});
    return weighted_deviation(std::move(away), prior, kPriorRuns);
}

struct TimedValue {
    Timestamp ended_at;
    double value{};  ///< ln(time)
    double weight{}; ///< by its age
};

/// Of one type on one unit type, the newer the more; of the same moment all alike.
std::vector<WeightedValue> weighed_by_place(std::vector<TimedValue> runs)
{
    std::sort(runs.begin(), runs.end(), [](const TimedValue& a, const TimedValue& b) {
        return a.ended_at != b.ended_at ? a.ended_at > b.ended_at : a.value < b.value;
    });
    std::vector<WeightedValue> weighed;
    std::size_t newer = 0;
    for (std::size_t i = 0; i < runs.size(); ++i) {
        if (i > 0 && runs[i].ended_at != runs[i - 1].ended_at) newer = i;
        const double weight = runs[i].weight * portable::exp2(-static_cast<double>(newer) / kHalfLife_runs);
        if (!(weight > 0)) break;
        weighed.push_back({runs[i].value, weight});
    }
    return weighed;
}

double total_weight(const std::vector<WeightedValue>& values)
{
    double sum = 0;
    for (const WeightedValue& one : values)
        sum += one.weight;
    return sum;
}

double certainty(double weight)
{
    return weight / (weight + kPriorRuns);
}

} // namespace

TypicalTimes::TypicalTimes(std::span<const PastRun> runs, Timestamp now)
{
    std::map<std::string_view, std::map<std::string_view, std::vector<TimedValue>>> timed;
    for (const PastRun& run : runs) {
        const double weight = recency(run.ended_at, now);
        if (is_time(run.actual_s) && weight > 0)
            timed[run.job_type][run.unit_type].push_back({run.ended_at, portable::log(run.actual_s), weight});
    }
    std::map<std::string_view, std::map<std::string_view, std::vector<WeightedValue>>> values;
    std::vector<WeightedValue> away;
    for (auto& [job_type, by_unit_type] : timed) {
        Type& type = types_[std::string(job_type)];
        for (auto& [unit_type, times_there] : by_unit_type) {
            Cell cell;
            for (const TimedValue& one : times_there)
                cell.weight += one.weight;
            cell.count = static_cast<std::int64_t>(times_there.size());
            const std::vector<WeightedValue>& times = values[job_type][unit_type] =
                weighed_by_place(std::move(times_there));
            cell.median = weighted_median(times);
            cell.recent_weight = total_weight(times);
            type.count += cell.count;
            run_count_ += cell.count;
            cell.unit = units_.emplace(unit_type, units_.size()).first->second;
            // Of one or two runs the median leaves nothing to see.
            for (const WeightedValue& one : times) {
                if (times.size() > 2) away.push_back({one.value - cell.median, one.weight});
            }
            type.cells.emplace(unit_type, cell);
        }
    }
    run_deviation_ = median_deviation(away, 0, kPriorRunDeviation);
    for (auto& [job_type, type] : types_) {
        for (auto& [unit_type, cell] : type.cells)
            cell.deviation = median_deviation(values[job_type][unit_type], cell.median, run_deviation_);
    }
    unit_levels_.resize(units_.size());
    fit_levels();
    find_deviations();
}

void TypicalTimes::fit_levels()
{
    // Flat: thousands of cells are gone through many times.
    struct FlatCell {
        std::size_t type{};
        std::size_t unit{};
        double median{};
        double certainty{};
    };
    std::vector<FlatCell> cells;
    std::vector<double> type_levels;
    for (const auto& [job_type, type] : types_) {
        for (const auto& [unit_type, cell] : type.cells)
            cells.push_back({type_levels.size(), cell.unit, cell.median, certainty(cell.weight)});
        type_levels.push_back(0);
    }
    for (int turn = 0; turn < kTurns; ++turn) {
        std::vector<WeightedValue> of_types(type_levels.size());
        for (const FlatCell& cell : cells) {
            of_types[cell.type].value += cell.certainty * (cell.median - unit_levels_[cell.unit]);
            of_types[cell.type].weight += cell.certainty;
        }
        for (std::size_t type = 0; type < type_levels.size(); ++type)
            type_levels[type] = of_types[type].weight > 0 ? of_types[type].value / of_types[type].weight : 0;
        std::vector<WeightedValue> of_units(unit_levels_.size());
        for (const FlatCell& cell : cells) {
            of_units[cell.unit].value += cell.certainty * (cell.median - type_levels[cell.type]);
            of_units[cell.unit].weight += cell.certainty;
        }
        for (std::size_t unit = 0; unit < unit_levels_.size(); ++unit)
            unit_levels_[unit] = of_units[unit].value / (of_units[unit].weight + 1);
    }
    auto level = type_levels.begin();
    for (auto& [job_type, type] : types_)
        type.level = *level++;
}

void TypicalTimes::find_deviations()
{
    if (types_.empty()) return;
    double cells = 1;
    double cell_squares = kPriorCellDeviation * kPriorCellDeviation;
    double type_squares = kPriorTypeDeviation * kPriorTypeDeviation;
    double unit_squares = kPriorCellDeviation * kPriorCellDeviation;
    std::vector<WeightedValue> levels;
    for (const auto& [job_type, type] : types_) {
        levels.push_back({type.level, 1});
        for (const auto& [unit_type, cell] : type.cells) {
            const double rest = cell.median - type.level - unit_levels_[cell.unit];
            cell_squares += certainty(cell.weight) * rest * rest;
            cells += certainty(cell.weight);
        }
    }
    type_median_ = weighted_median(levels);
    for (const WeightedValue& one : levels)
        type_squares += (one.value - type_median_) * (one.value - type_median_);
    for (const double level : unit_levels_)
        unit_squares += level * level;
    cell_deviation_ = std::sqrt(cell_squares / cells);
    type_deviation_ = std::sqrt(type_squares / static_cast<double>(levels.size() + 1));
    unit_deviation_ = std::sqrt(unit_squares / static_cast<double>(unit_levels_.size() + 1));
}

TimeRatio TypicalTimes::time_ratio(std::string_view unit_type) const
{
    const auto unit = units_.find(unit_type);
    if (unit == units_.end()) return {1, unit_deviation_};
    return {portable::exp(unit_levels_[unit->second]), 0};
}

std::optional<RunEstimate> TypicalTimes::find(std::string_view job_type, std::string_view unit_type) const
{
    if (types_.empty()) return {};
    const auto unit = units_.find(unit_type);
    const double unit_level = unit == units_.end() ? 0 : unit_levels_[unit->second];
    const double elsewhere = portable::hypot(cell_deviation_, unit == units_.end() ? unit_deviation_ : 0);
    const auto type = types_.find(job_type);
    if (type == types_.end()) {
        const double deviation = portable::hypot(portable::hypot(type_deviation_, elsewhere), run_deviation_);
        return to_estimate(type_median_ + unit_level, deviation,
                           "runs of " + counted(static_cast<std::int64_t>(types_.size()), "other type"), run_count_);
    }
    const auto cell = type->second.cells.find(unit_type);
    if (cell != type->second.cells.end()) {
        const Cell& own = cell->second;
        const double deviation = own.deviation * std::sqrt(1 + 1 / std::max(own.recent_weight, kMinWeight));
        return to_estimate(own.median, deviation, counted(own.count, "run") + " of its type there", own.count);
    }
    return to_estimate(type->second.level + unit_level, portable::hypot(elsewhere, run_deviation_),
                       counted(type->second.count, "run") + " of its type elsewhere", type->second.count);
}

} // namespace fathom
