#include "probes/operators/data_flow.hpp"

#include "probes/operators/operator.hpp"

#include <cmath>
#include <numbers>

namespace fathom::probes {

std::vector<double> fit_values(std::span<const double> values, std::size_t size)
{
    FATHOM_ASSERT(!values.empty());
    std::vector<double> fitted(size);
    double squares = 0;
    for (std::size_t i = 0; i < size; ++i) {
        fitted[i] = values[i % values.size()];
        squares += fitted[i] * fitted[i];
    }
    const double root_mean_square = std::sqrt(squares / static_cast<double>(size));
    if (!(root_mean_square > 0) || !std::isfinite(root_mean_square)) return fitted;
    const double factor = std::numbers::inv_sqrt3 / root_mean_square;
    for (double& value : fitted)
        value *= factor;
    return fitted;
}

void MeanOfResults::add(std::span<const double> values)
{
    if (sum_.empty()) sum_.resize(values.size());
    FATHOM_ASSERT(values.size() == sum_.size());
    for (std::size_t i = 0; i < values.size(); ++i)
        sum_[i] += values[i];
    ++count_;
}

std::vector<double> MeanOfResults::mean() const
{
    std::vector<double> mean = sum_;
    for (double& value : mean)
        value /= count_;
    return mean;
}

Result<void> ProbeOperator::feed(std::size_t /*index*/, std::span<const double> /*values*/)
{
    return Error{Errc::kUnavailable, "takes no data from other operators"};
}

} // namespace fathom::probes
