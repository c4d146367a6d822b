#include "core/decide/trust/trust.hpp"

#include "core/base/json_reader.hpp"
#include "core/base/portable_math.hpp"
#include "core/decide/statistics/sample_statistics.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace fathom {
namespace {

/// Jobs that are taken to have gone as measured before any has run.
constexpr double kPriorJobs = 8;

/// The spread of ln(actual / predicted) of an honest unit type, before there are jobs to tell.
constexpr double kPriorDeviation = 0.2;

/// Of the normal distribution, 10 % on each side.
constexpr double kQuantile = 1.2816;

/// Of types that one unit type alone has run: beyond this, and after a start so slow, no error of prediction explains
/// it.
constexpr double kUnexplainedRatio = 3;
constexpr double kSlowStart_s = 2;
constexpr std::size_t kMinJobsAlone = 4;

/// After so many verified results a finding's exponent has halved.
constexpr double kForgivingResults = 8;

using ByName = std::map<std::string, std::vector<double>>;
using ResidualsByName = std::map<std::string, std::vector<RunResidual>>;

/// By job type and unit type.
std::map<std::string, ResidualsByName> arrange(std::span<const RunResidual> residuals)
{
    std::map<std::string, ResidualsByName> result;
    for (const RunResidual& one : residuals) {
        if (!(one.predicted_s > 0) || !(one.actual_s > 0)) continue;
        if (std::isfinite(portable::log(one.actual_s / one.predicted_s)))
            result[one.job_type][one.unit_type].push_back(one);
    }
    return result;
}

std::vector<double> logarithms(const std::vector<RunResidual>& residuals)
{
    std::vector<double> values;
    for (const RunResidual& one : residuals)
        values.push_back(portable::log(one.actual_s / one.predicted_s));
    return values;
}

/// What of a job type that nobody else has run no error of prediction explains; mostly nothing.
std::vector<double> excesses(const std::vector<RunResidual>& residuals)
{
    std::vector<double> values;
    for (const RunResidual& one : residuals) {
        const double ratio = std::max((one.actual_s - kSlowStart_s) / one.predicted_s, 1e-9);
        values.push_back(portable::log(ratio / kUnexplainedRatio));
    }
    if (values.size() < kMinJobsAlone || median(values) <= 0) return {};
    for (double& value : values)
        value = std::max(value, 0.0);
    return values;
}

/// What is left per unit type when each job type's own error is taken away.
ByName compare(const std::map<std::string, ResidualsByName>& by_job_type)
{
    ByName left;
    for (const auto& [job_type, by_unit_type] : by_job_type) {
        if (by_unit_type.size() < 2) {
            const auto& [unit_type, residuals] = *by_unit_type.begin();
            const std::vector<double> values = excesses(residuals);
            if (!values.empty()) left[unit_type].insert(left[unit_type].end(), values.begin(), values.end());
            continue;
        }
        std::vector<double> medians;
        for (const auto& [unit_type, residuals] : by_unit_type)
            medians.push_back(median(logarithms(residuals)));
        // The lower one of two: with two unit types nobody knows which is wrong, and slow is what costs.
        std::sort(medians.begin(), medians.end());
        const double usual = medians[(medians.size() - 1) / 2];
        for (const auto& [unit_type, residuals] : by_unit_type) {
            for (const double value : logarithms(residuals))
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
    trust.slowdown = portable::exp(mean);
    trust.low = portable::exp(mean - kQuantile * error);
    trust.high = portable::exp(mean + kQuantile * error);
    trust.factor = trust.low > 1 ? 1 / trust.slowdown : 1;
    return trust;
}

} // namespace

std::map<std::string, Trust> judge_trust(std::span<const RunResidual> residuals, std::span<const TrustFinding> findings)
{
    const ByName left = compare(arrange(residuals));
    std::map<std::string, Trust> result;
    for (const RunResidual& one : residuals)
        result.try_emplace(one.unit_type);
    for (const auto& [unit_type, values] : left)
        result[unit_type] = judge(values);
    for (const TrustFinding& finding : findings) {
        Trust& trust = result[finding.unit_type];
        ++trust.finding_count;
        trust.finding_factor *=
            portable::exp2(-portable::exp2(-static_cast<double>(finding.right_since) / kForgivingResults));
    }
    for (auto& [unit_type, trust] : result)
        trust.factor *= trust.finding_factor;
    return result;
}

Json to_json(const Trust& trust)
{
    return {{"job_count", trust.job_count},
            {"slowdown", trust.slowdown},
            {"low", trust.low},
            {"high", trust.high},
            {"finding_count", trust.finding_count},
            {"finding_factor", trust.finding_factor},
            {"factor", trust.factor}};
}

} // namespace fathom
