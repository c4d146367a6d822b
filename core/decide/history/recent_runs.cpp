#include "core/decide/history/recent_runs.hpp"

#include "core/base/clock.hpp"
#include "core/base/portable_math.hpp"
#include "core/decide/history/run_calibration.hpp"
#include "core/decide/history/run_history.hpp"
#include "core/decide/history/run_levels.hpp"
#include "core/decide/prediction/predict_units.hpp"
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
#include <tuple>
#include <utility>
#include <vector>

namespace fathom {

struct TimedRun {
    Timestamp ended_at;
    double log_time{};
    double weight{}; ///< by its age
    std::int64_t unit_count{1};
};

namespace {

/// More would have no weight left.
constexpr std::size_t kMaxRuns = 16;
constexpr double kRecentDeviations = 3;
/// No history knows better.
constexpr double kMinNoise = 0.02;

/// Runs of one type on one unit type, newest first.
using TimedRuns = std::span<const TimedRun>;

/// Of those on as many units.
struct Sums {
    double weight{};
    double value{};
    double mean() const { return value / weight; }
};

std::map<std::int64_t, Sums> sums_by_count(TimedRuns runs)
{
    std::map<std::int64_t, Sums> by_count;
    for (const TimedRun& run : runs) {
        Sums& sums = by_count[run.unit_count];
        sums.weight += run.weight;
        sums.value += run.weight * run.log_time;
    }
    return by_count;
}

/// How far runs are from the mean of those on as many units.
struct Squares {
    double sum{};
    double freedom{};
};

Squares squares_of(TimedRuns runs)
{
    const std::map<std::int64_t, Sums> by_count = sums_by_count(runs);
    Squares squares;
    for (const TimedRun& run : runs)
        squares.sum += run.weight * portable::square(run.log_time - by_count.at(run.unit_count).mean());
    for (const auto& [count, sums] : by_count)
        squares.freedom += std::max(sums.weight - 1, 0.0);
    return squares;
}

/// The same one by one, each as large as if the mean were not made of it.
void add_deviations(TimedRuns runs, std::vector<WeightedValue>& away)
{
    const std::map<std::int64_t, Sums> by_count = sums_by_count(runs);
    for (const TimedRun& run : runs) {
        const Sums& sums = by_count.at(run.unit_count);
        const double free_share = 1 - 1 / sums.weight;
        if (free_share > 0)
            away.push_back({std::abs(run.log_time - sums.mean()) / std::sqrt(free_share), run.weight * free_share});
    }
}

/// Without the first run there; all where it cannot be told which was first.
TimedRuns later_runs(TimedRuns runs)
{
    const bool has_first = runs.size() > 1 && runs.back().ended_at < runs[runs.size() - 2].ended_at;
    return runs.first(runs.size() - (has_first ? 1 : 0));
}

/// What part of itself the first run counts. What it took longer than those after it may have been for once, to read
/// files from disks and to fill caches: so much is its own deviation. Nothing is shorter for being the first.
double share_of_first(TimedRuns runs, double noise)
{
    const TimedRuns later = later_runs(runs);
    if (later.size() == runs.size()) return 1;
    const TimedRun& first = runs.back();
    std::vector<WeightedValue> comparable;
    for (const TimedRun& run : later) {
        if (run.unit_count == first.unit_count) comparable.push_back({run.log_time, run.weight});
    }
    if (comparable.empty()) return 1;
    const double longer = std::max(first.log_time - weighted_median(std::move(comparable)), 0.0);
    return portable::square(noise) / (portable::square(noise) + portable::square(longer));
}

double noise_of(const Squares& squares, double prior)
{
    const double noise =
        std::sqrt((kPriorJobs * portable::square(prior) + squares.sum) / (kPriorJobs + squares.freedom));
    return std::max(noise, kMinNoise);
}

/// What runs agree on: their median, or the mean of two of which neither took twice as long as the other.
std::optional<double> centre_of(const std::vector<WeightedValue>& ratios)
{
    if (ratios.size() > 2) return weighted_median(ratios);
    if (ratios.size() < 2) return std::nullopt;
    const double first = ratios.front().value;
    const double second = ratios.back().value;
    if (std::abs(first - second) > portable::log(2)) return std::nullopt;
    return (first + second) / 2;
}

} // namespace

RecentRuns::Cell RecentRuns::make_cell(std::vector<TimedRun> runs, double usual)
{
    Cell cell;
    cell.count = static_cast<std::int64_t>(runs.size());
    const double share = share_of_first(runs, usual);
    // Of two it cannot be told which of them was unusual: the interval holds both.
    if (runs.size() > 2) runs.back().weight *= share;
    cell.noise = noise_of(squares_of(runs), usual);
    if (runs.size() == 2) runs.back().weight *= share;
    double place = 1;
    for (const TimedRun& run : runs) {
        if (cell.runs.size() == kMaxRuns) break;
        cell.runs.push_back({run.log_time, run.weight * place, run.unit_count});
        place *= kOlder;
    }
    return cell;
}

RecentRuns::RecentRuns(std::span<const PastRun> runs, Timestamp now)
{
    std::map<std::string_view, std::map<std::string_view, std::vector<TimedRun>>> cells;
    for (const PastRun& run : runs) {
        const double weight = recency(run.ended_at, now);
        if (!is_time(run.actual_s) || !is_time(run.slowdown) || !(weight > 0)) continue;
        cells[run.job_type][run.unit_type].push_back({run.ended_at, portable::log(run.actual_s / run.slowdown), weight,
                                                      std::max<std::int64_t>(run.unit_count, 1)});
    }
    std::vector<WeightedValue> away;
    for (auto& [job_type, by_unit_type] : cells) {
        for (auto& [unit_type, timed] : by_unit_type) {
            // Sums of floating-point numbers depend on their order, and runs come in any.
            std::sort(timed.begin(), timed.end(), [](const TimedRun& a, const TimedRun& b) {
                return std::tuple(b.ended_at, a.log_time, a.unit_count) <
                       std::tuple(a.ended_at, b.log_time, b.unit_count);
            });
            add_deviations(later_runs(timed), away);
        }
    }
    const double of_all = std::max(weighted_deviation(std::move(away), kPriorNoise, kPriorJobs), kMinNoise);
    for (auto& [job_type, by_unit_type] : cells) {
        // A program whose time depends on what it is given does so everywhere.
        Squares of_type;
        for (const auto& [unit_type, timed] : by_unit_type) {
            const Squares own = squares_of(later_runs(timed));
            of_type.sum += own.sum;
            of_type.freedom += own.freedom;
        }
        const double usual = noise_of(of_type, of_all);
        Cells& made = types_[std::string(job_type)];
        for (auto& [unit_type, timed] : by_unit_type)
            made[std::string(unit_type)] = make_cell(std::move(timed), usual);
    }
}

const RecentRuns::Cell* RecentRuns::find_cell(std::string_view job_type, std::string_view unit_type) const
{
    const auto type = types_.find(job_type);
    if (type == types_.end()) return nullptr;
    const auto cell = type->second.find(unit_type);
    return cell == type->second.end() ? nullptr : &cell->second;
}

std::vector<std::string_view> RecentRuns::unit_types(std::string_view job_type) const
{
    std::vector<std::string_view> ids;
    const auto type = types_.find(job_type);
    if (type == types_.end()) return ids;
    ids.reserve(type->second.size());
    for (const auto& [unit_type, cell] : type->second)
        ids.push_back(unit_type);
    return ids;
}

std::optional<RecentRuns::Answer> RecentRuns::find(std::string_view job_type, std::string_view unit_type,
                                                   const DividedRun& raw) const
{
    const Cell* const cell = find_cell(job_type, unit_type);
    if (cell == nullptr) return std::nullopt;
    std::vector<WeightedValue> ratios;
    for (const Run& run : cell->runs) {
        const double raw_s = raw.at(run.unit_count).run_s;
        if (is_time(raw_s)) ratios.push_back({run.log_time - portable::log(raw_s), run.weight});
    }
    if (ratios.empty()) return std::nullopt;
    const std::optional<double> known = centre_of(ratios);
    const double centre = known.value_or(0);
    const double limit = known ? kRecentDeviations * cell->noise : portable::log(kMaxSurprise);
    Answer answer{.noise = cell->noise, .count = cell->count, .compared = static_cast<std::int64_t>(ratios.size())};
    double sum = 0;
    double weights = 0;
    double squares = 0;
    for (const WeightedValue& one : ratios) {
        sum += one.weight * std::clamp(one.value, centre - limit, centre + limit);
        weights += one.weight;
        squares += portable::square(one.weight);
    }
    answer.log_ratio = sum / weights;
    // Old runs say less of now, as well as each other: their weights are less than one.
    answer.weight = std::min(portable::square(weights) / squares, weights);
    return answer;
}

} // namespace fathom
