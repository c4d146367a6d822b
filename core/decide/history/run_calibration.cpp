#include "core/decide/history/run_calibration.hpp"

#include "core/base/clock.hpp"
#include "core/base/json_reader.hpp"
#include "core/base/portable_math.hpp"
#include "core/decide/history/run_history.hpp"
#include "core/decide/prediction/predict.hpp"
#include "core/decide/statistics/sample_statistics.hpp"
#include "core/decide/statistics/weighted_median.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace fathom {
namespace {

constexpr double kHalfLife_days = 30;
/// Widths follow the newest runs, of few runs their newest quarter: what was learned since has made the errors of older
/// ones history.
constexpr double kHalfLifeShare = 0.25;
constexpr double kMinHalfLife_runs = 25;
constexpr double kMaxHalfLife_runs = 400;
constexpr double kRunCoverage = 0.8;

/// How far a run was from its prediction, in half widths of an interval of factor 1.
struct Distance {
    Timestamp ended_at;
    double half_widths{};
};

/// What the runs of one group say, gathered in any order.
struct Gathered {
    std::vector<double> ratios; ///< actual / predicted
    std::int64_t below{};
    std::int64_t above{};
    std::vector<Distance> distances;
};

void gather(const PastRun& run, Gathered& to)
{
    to.ratios.push_back(run.actual_s / run.predicted_s);
    if (run.actual_s < run.low_s) ++to.below;
    if (run.actual_s > run.high_s) ++to.above;
    if (!is_time(run.raw_s) || !is_time(run.width_factor)) return;
    const double away = portable::log(run.actual_s / run.predicted_s);
    const double limit_s = away < 0 ? run.low_s : run.high_s;
    const double width = is_time(limit_s) ? std::abs(portable::log(limit_s / run.predicted_s)) : 0;
    // An interval of no width cannot be stretched.
    if (width > 0) to.distances.push_back({run.ended_at, std::abs(away) / (width / run.width_factor)});
}

/// When the first run of each job type ended on each unit type.
using FirstEnds = std::map<std::string_view, std::map<std::string_view, Timestamp>>;

FirstEnds first_ends(std::span<const PastRun> runs)
{
    FirstEnds ends;
    for (const PastRun& run : runs) {
        if (!is_time(run.actual_s)) continue;
        const auto [first, is_new] = ends[run.job_type].try_emplace(run.unit_type, run.ended_at);
        if (!is_new) first->second = std::min(first->second, run.ended_at);
    }
    return ends;
}

/// @param ends  of this run and others.
Rung rung_of_run(const PastRun& run, const FirstEnds& ends)
{
    const Timestamp first = ends.at(run.job_type).at(run.unit_type);
    // It began after the decision: many jobs of a new type that were submitted at once all went without runs.
    const bool has_earlier = std::chrono::duration_cast<Seconds>(run.ended_at - first).count() >= run.actual_s;
    return has_earlier ? Rung::kRuns : rung_of(run.basis);
}

/// The logarithm of the width factor of a group, as far as its runs tell it.
double log_width(std::vector<Distance> distances, double parent, Timestamp now)
{
    if (distances.size() < static_cast<std::size_t>(kMinForWidth)) return parent;
    std::sort(distances.begin(), distances.end(), [](const Distance& a, const Distance& b) {
        return a.ended_at != b.ended_at ? a.ended_at > b.ended_at : a.half_widths < b.half_widths;
    });
    const double half_life_runs =
        std::clamp(kHalfLifeShare * static_cast<double>(distances.size()), kMinHalfLife_runs, kMaxHalfLife_runs);
    std::vector<WeightedValue> weighted;
    double count = 0;
    std::size_t newer = 0;
    for (std::size_t i = 0; i < distances.size(); ++i) {
        const Distance& one = distances[i];
        if (i > 0 && one.ended_at != distances[i - 1].ended_at) newer = i;
        weighted.push_back({one.half_widths,
                            recency(one.ended_at, now) * portable::exp2(-static_cast<double>(newer) / half_life_runs)});
        count += weighted.back().weight;
    }
    const double own =
        portable::log(std::clamp(weighted_quantile(std::move(weighted), kRunCoverage), kMinWidth, kMaxWidth));
    return (count * own + kMinForWidth * parent) / (count + kMinForWidth);
}

Calibration summarize_group(Gathered gathered, double parent, Timestamp now)
{
    Calibration result;
    if (gathered.ratios.empty()) return result;
    const auto count = static_cast<double>(gathered.ratios.size());
    std::vector<double> errors;
    errors.reserve(gathered.ratios.size());
    for (const double ratio : gathered.ratios)
        errors.push_back(std::abs(ratio - 1));
    result.job_count = static_cast<std::int64_t>(gathered.ratios.size());
    result.below_share = static_cast<double>(gathered.below) / count;
    result.above_share = static_cast<double>(gathered.above) / count;
    result.within_share = static_cast<double>(result.job_count - gathered.below - gathered.above) / count;
    result.median_ratio = median(std::move(gathered.ratios));
    result.median_error = median(std::move(errors));
    result.width_factor = portable::exp(log_width(std::move(gathered.distances), parent, now));
    return result;
}

using Groups = std::map<std::string, Gathered, std::less<>>;

std::map<std::string, Calibration, std::less<>> summarize_groups(Groups groups, double parent, Timestamp now)
{
    std::map<std::string, Calibration, std::less<>> result;
    for (auto& [name, gathered] : groups)
        result.emplace(name, summarize_group(std::move(gathered), parent, now));
    return result;
}

/// The predictions on one rung.
struct RungRuns {
    Gathered all;
    Groups by_unit_type;
};

RungCalibration summarize_rung(RungRuns runs, double parent, Timestamp now)
{
    RungCalibration result;
    result.all = summarize_group(std::move(runs.all), parent, now);
    // summarize_group() leaves it at 1 where there are no runs at all.
    if (result.all.job_count == 0) result.all.width_factor = portable::exp(parent);
    const double of_rung = portable::log(result.all.width_factor);
    for (auto& [unit_type, gathered] : runs.by_unit_type)
        result.width_factors.emplace(unit_type, portable::exp(log_width(std::move(gathered.distances), of_rung, now)));
    return result;
}

} // namespace

std::string_view to_string(Rung rung)
{
    switch (rung) {
    case Rung::kRuns:
        return "runs";
    case Rung::kReference:
        return "reference";
    case Rung::kOperators:
        return "operators";
    }
    return "operators";
}

Rung rung_of(RawBasis basis)
{
    return basis == RawBasis::kReference ? Rung::kReference : Rung::kOperators;
}

double RungCalibration::width_factor(std::string_view unit_type) const
{
    const auto found = width_factors.find(unit_type);
    return found == width_factors.end() ? all.width_factor : found->second;
}

double recency(Timestamp ended_at, Timestamp now)
{
    const double age_s = std::max(std::chrono::duration_cast<Seconds>(now - ended_at).count(), 0.0);
    return portable::exp2(-age_s / (kHalfLife_days * 86400));
}

bool is_time(double seconds)
{
    return std::isfinite(seconds) && seconds > 0;
}

RunCalibrations calibrate(std::span<const PastRun> runs, Timestamp now)
{
    Gathered all;
    Groups by_unit_type;
    Groups by_job_type;
    std::array<RungRuns, kRungs> by_rung;
    const FirstEnds ends = first_ends(runs);
    for (const PastRun& run : runs) {
        if (!is_time(run.predicted_s) || !is_time(run.actual_s)) continue;
        gather(run, all);
        gather(run, by_unit_type[run.unit_type]);
        gather(run, by_job_type[run.job_type]);
        if (!is_time(run.raw_s)) continue;
        RungRuns& rung = by_rung[static_cast<std::size_t>(rung_of_run(run, ends))];
        gather(run, rung.all);
        gather(run, rung.by_unit_type[run.unit_type]);
    }
    RunCalibrations result;
    result.all = summarize_group(std::move(all), 0, now);
    const double parent = portable::log(result.all.width_factor);
    result.by_unit_type = summarize_groups(std::move(by_unit_type), parent, now);
    result.by_job_type = summarize_groups(std::move(by_job_type), parent, now);
    for (std::size_t i = 0; i < kRungs; ++i)
        result.by_rung[i] = summarize_rung(std::move(by_rung[i]), parent, now);
    return result;
}

Json to_json(const Calibration& calibration)
{
    return {{"job_count", calibration.job_count},       {"within_share", calibration.within_share},
            {"below_share", calibration.below_share},   {"above_share", calibration.above_share},
            {"median_ratio", calibration.median_ratio}, {"median_error", calibration.median_error},
            {"width_factor", calibration.width_factor}};
}

} // namespace fathom
