#include "core/decide/statistics/slowdown.hpp"

#include "core/base/portable_math.hpp"

#include <algorithm>
#include <cmath>

namespace fathom {
namespace {

constexpr double kMaxMedians = 3;

struct CappedMean {
    double mean{};
    double relative_variance{}; ///< of the mean, over its square
};

/// @param times  of two samples or more.
CappedMean capped_mean(const TimedSamples& times)
{
    const double most = kMaxMedians * times.median;
    const auto count = static_cast<double>(times.samples.size());
    double sum = 0;
    for (const double sample : times.samples)
        sum += std::min(sample, most);
    const double mean = sum / count;
    double squares = 0;
    for (const double sample : times.samples)
        squares += portable::square(std::min(sample, most) - mean);
    return {mean, squares / (count - 1) / count / portable::square(mean)};
}

} // namespace

Slowdown slowdown_of(const TimedSamples& beside, const TimedSamples& alone)
{
    const double of_medians = beside.median / alone.median;
    if (std::min(beside.samples.size(), alone.samples.size()) < kMinForMeans)
        return {.ratio = of_medians, .deviation = 0};
    const CappedMean mean_beside = capped_mean(beside);
    const CappedMean mean_alone = capped_mean(alone);
    return {.ratio = std::max(mean_beside.mean / mean_alone.mean, of_medians),
            .deviation = std::sqrt(mean_beside.relative_variance + mean_alone.relative_variance)};
}

} // namespace fathom
