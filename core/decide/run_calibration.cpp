#include "core/decide/run_calibration.hpp"

#include "core/decide/sample_statistics.hpp"
#include "core/decide/weighted_median.hpp"

#include <algorithm>
#include <cmath>

namespace fathom {
namespace {

constexpr double kHalfLife_days = 30;
constexpr double kCoverage = 0.8;

/// What the runs of one group say, gathered in any order.
struct Gathered {
    std::vector<double> ratios; ///< actual / predicted
    std::int64_t below{};
    std::int64_t above{};
    std::vector<WeightedValue> half_widths; ///< away from the prediction, in half widths of an interval of factor 1
};

void gather(const PastRun& run, double weight, Gathered& to)
{
    to.ratios.push_back(run.actual_s / run.predicted_s);
    if (run.actual_s < run.low_s) ++to.below;
    if (run.actual_s > run.high_s) ++to.above;
    if (!is_time(run.promised_s) || !is_time(run.width_factor)) return;
    const double away = std::log(run.actual_s / run.predicted_s);
    const double limit_s = away < 0 ? run.low_s : run.high_s;
    const double width = is_time(limit_s) ? std::abs(std::log(limit_s / run.predicted_s)) : 0;
    // An interval of no width cannot be stretched.
    if (width > 0) to.half_widths.push_back({std::abs(away) / (width / run.width_factor), weight});
}

/// The logarithm of the width factor of a group, as far as its runs tell it.
double log_width(const std::vector<WeightedValue>& half_widths, double parent)
{
    double count = 0;
    for (const WeightedValue& one : half_widths)
        count += one.weight;
    if (half_widths.size() < static_cast<std::size_t>(kLeastForWidth)) return parent;
    const double own = std::log(std::clamp(weighted_quantile(half_widths, kCoverage), kLeastWidth, kMostWidth));
    return (count * own + kLeastForWidth * parent) / (count + kLeastForWidth);
}

Calibration summarize_group(Gathered gathered, double parent)
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
    result.width_factor = std::exp(log_width(gathered.half_widths, parent));
    return result;
}

using Groups = std::map<std::string, Gathered, std::less<>>;

std::map<std::string, Calibration, std::less<>> summarize_groups(Groups groups, double parent)
{
    std::map<std::string, Calibration, std::less<>> result;
    for (auto& [name, gathered] : groups)
        result.emplace(name, summarize_group(std::move(gathered), parent));
    return result;
}

} // namespace

double recency(Timestamp ended_at, Timestamp now)
{
    const double age_s = std::max(std::chrono::duration_cast<Seconds>(now - ended_at).count(), 0.0);
    return std::exp2(-age_s / (kHalfLife_days * 86400));
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
    for (const PastRun& run : runs) {
        if (!is_time(run.predicted_s) || !is_time(run.actual_s)) continue;
        const double weight = recency(run.ended_at, now);
        gather(run, weight, all);
        gather(run, weight, by_unit_type[run.unit_type]);
        gather(run, weight, by_job_type[run.job_type]);
    }
    RunCalibrations result;
    result.all = summarize_group(std::move(all), 0);
    const double parent = std::log(result.all.width_factor);
    result.by_unit_type = summarize_groups(std::move(by_unit_type), parent);
    result.by_job_type = summarize_groups(std::move(by_job_type), parent);
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
