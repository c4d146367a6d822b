#include "core/decide/statistics/sample_statistics.hpp"

#include "core/base/portable_math.hpp"
#include "core/base/result.hpp"
#include "core/model/probe_result.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace fathom {
namespace {

/// How many order statistics may be left out at each end so that the rest still covers the median
/// with 95 %: the largest r with 2·P(Binomial(n, 1/2) <= r − 1) <= 0.05.
std::size_t trimmed_each_side(std::size_t n)
{
    double term = portable::exp2(-static_cast<double>(n)); // P(X = 0)
    double below = term;
    std::size_t r = 0;
    while (2 * below <= 0.05 && r + 1 < n / 2) {
        ++r;
        term *= static_cast<double>(n - r + 1) / static_cast<double>(r);
        below += term;
    }
    return r > 0 ? r - 1 : 0;
}

} // namespace

double quantile(std::span<const double> sorted, double fraction)
{
    const double position = fraction * static_cast<double>(sorted.size() - 1);
    const auto below = static_cast<std::size_t>(position);
    const std::size_t above = std::min(below + 1, sorted.size() - 1);
    return sorted[below] + (position - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

double median(std::vector<double> values)
{
    // Unlike other quantiles it is asked for in the midst of decisions; the others need no order for it.
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    if (values.size() % 2 == 1) return *middle;
    const std::array<double, 2> both{*std::max_element(values.begin(), middle), *middle};
    return quantile(both, 0.5);
}

SampleStatistics summarize(std::span<const double> samples)
{
    FATHOM_ASSERT(!samples.empty());
    std::vector<double> sorted(samples.begin(), samples.end());
    std::sort(sorted.begin(), sorted.end());
    const std::size_t trimmed = trimmed_each_side(sorted.size());
    const double lower = quantile(sorted, 0.25);
    const double upper = quantile(sorted, 0.75);

    SampleStatistics statistics;
    statistics.median = quantile(sorted, 0.5);
    statistics.ci_low = sorted[trimmed];
    statistics.ci_high = sorted[sorted.size() - 1 - trimmed];
    statistics.spread = statistics.median != 0 ? (upper - lower) / std::abs(statistics.median) : 0;
    statistics.counted = samples.size();
    const double margin = 3 * (upper - lower);
    for (std::size_t i = 0; i < samples.size(); ++i) {
        if (samples[i] < lower - margin || samples[i] > upper + margin)
            statistics.outliers.push_back(static_cast<std::int64_t>(i));
    }
    return statistics;
}

SampleStatistics summarize(std::span<const double> samples, std::span<const DisturbedSample> disturbed)
{
    std::vector<bool> is_disturbed(samples.size());
    for (const DisturbedSample& one : disturbed) {
        if (one.sample >= 0 && static_cast<std::size_t>(one.sample) < samples.size())
            is_disturbed[static_cast<std::size_t>(one.sample)] = true;
    }
    std::vector<double> undisturbed;
    for (std::size_t i = 0; i < samples.size(); ++i) {
        if (!is_disturbed[i]) undisturbed.push_back(samples[i]);
    }
    SampleStatistics all = summarize(samples);
    if (undisturbed.size() < kMinForInterval || 2 * undisturbed.size() < samples.size()) return all;
    SampleStatistics statistics = summarize(undisturbed);
    statistics.outliers = std::move(all.outliers); // indices into all samples
    return statistics;
}

} // namespace fathom
