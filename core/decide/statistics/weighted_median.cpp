#include "core/decide/statistics/weighted_median.hpp"

#include "core/base/result.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <tuple>
#include <utility>
#include <vector>

namespace fathom {

double weighted_quantile(std::vector<WeightedValue> values, double fraction)
{
    FATHOM_ASSERT(!values.empty());
    // By weight too: sums of floating-point numbers depend on their order.
    std::sort(values.begin(), values.end(), [](const WeightedValue& a, const WeightedValue& b) {
        return std::tie(a.value, a.weight) < std::tie(b.value, b.weight);
    });
    double total = 0;
    for (const WeightedValue& one : values)
        total += one.weight;
    const double wanted = fraction * total;
    double below = 0;
    for (std::size_t i = 0; i + 1 < values.size(); ++i) {
        below += values[i].weight;
        if (std::abs(below - wanted) <= 1e-9 * total) return (values[i].value + values[i + 1].value) / 2;
        if (below > wanted) return values[i].value;
    }
    return values.back().value;
}

double weighted_median(std::vector<WeightedValue> values)
{
    return weighted_quantile(std::move(values), 0.5);
}

double weighted_deviation(std::vector<WeightedValue> away, double prior, double prior_weight)
{
    // From the median of the absolute deviations to the standard deviation, of a normal distribution.
    constexpr double kFromMedian = 1.4826;
    away.push_back({prior / kFromMedian, prior_weight});
    return kFromMedian * weighted_median(std::move(away));
}

} // namespace fathom
