#include "core/decide/trust.hpp"

#include "core/decide/sample_statistics.hpp"

#include <algorithm>
#include <cmath>

namespace fathom {
namespace {

/// Jobs that are taken to have gone as promised before any has run.
constexpr double kPriorJobs = 8;

/// The spread of ln(actual / predicted) of an honest unit type, before there are jobs to tell.
constexpr double kPriorDeviation = 0.2;

/// Of the normal distribution, 10 % on each side.
constexpr double kQuantile = 1.2816;

using ByName = std::map<std::string, std::vector<double>>;

/// ln(actual / predicted) by job type and unit type.
std::map<std::string, ByName> logarithms(std::span<const RunResidual> residuals)
{
    std::map<std::string, ByName> result;
    for (const RunResidual& one : residuals) {
        if (!(one.predicted_s > 0) || !(one.actual_s > 0)) continue;
        const double value = std::log(one.actual_s / one.predicted_s);
        if (std::isfinite(value)) result[one.job_type][one.unit_type].push_back(value);
    }
    return result;
}

/// What is left per unit type when each job type's own error is taken away.
ByName compare(const std::map<std::string, ByName>& by_job_type)
{
    ByName left;
    for (const auto& [job_type, by_unit_type] : by_job_type) {
        if (by_unit_type.size() < 2) continue;
        std::vector<double> medians;
        for (const auto& [unit_type, values] : by_unit_type)
            medians.push_back(median(values));
        // The lower one of two: with two unit types nobody knows which is wrong, and slow is what costs.
        std::sort(medians.begin(), medians.end());
        const double usual = medians[(medians.size() - 1) / 2];
        for (const auto& [unit_type, values] : by_unit_type) {
            for (const double value : values)
                left[unit_type].push_back(value - usual);
        }
    }
    return left;
}

Trust judge(std::vector<double> values)
{
    std::sort(values.begin(), values.end()); // sums of floating-point numbers depend on their order
    const auto count = static_cast<double>(values.size());
    double sum = 0;
    for (const double value : values)
        sum += value;
    const double mean = sum / (count + kPriorJobs);
    double squares = kPriorJobs * kPriorDeviation * kPriorDeviation;
    for (const double value : values)
        squares += (value - mean) * (value - mean);
    const double error = std::sqrt(squares / (count + kPriorJobs) / (count + kPriorJobs));
    Trust trust;
    trust.job_count = static_cast<std::int64_t>(values.size());
    trust.slowdown = std::exp(mean);
    trust.low = std::exp(mean - kQuantile * error);
    trust.high = std::exp(mean + kQuantile * error);
    trust.factor = trust.low > 1 ? 1 / trust.slowdown : 1;
    return trust;
}

} // namespace

std::map<std::string, Trust> judge_trust(std::span<const RunResidual> residuals)
{
    const ByName left = compare(logarithms(residuals));
    std::map<std::string, Trust> result;
    for (const RunResidual& one : residuals)
        result.try_emplace(one.unit_type);
    for (const auto& [unit_type, values] : left)
        result[unit_type] = judge(values);
    return result;
}

Json to_json(const Trust& trust)
{
    return {{"job_count", trust.job_count},
            {"slowdown", trust.slowdown},
            {"low", trust.low},
            {"high", trust.high},
            {"factor", trust.factor}};
}

} // namespace fathom
