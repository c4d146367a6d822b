#include "probes/operators/projection.hpp"

#include "probes/operators/random.hpp"

#include <array>
#include <cmath>
#include <cstddef>

namespace fathom::probes {
namespace {

constexpr std::size_t kSums = 4;
constexpr std::size_t kValuesOfOneDraw = 64 / kSums;

/// Other signs than the inputs' random numbers, which come from the same seed.
constexpr std::uint64_t kSignStream = 0x5851f42d4c957f2dU;

} // namespace

std::vector<double> project(std::span<const double> values, std::uint64_t seed)
{
    std::array<double, kSums> sums{};
    double squares = 0;
    std::uint64_t bits = 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
        if (i % kValuesOfOneDraw == 0) bits = random_bits(seed ^ kSignStream, i);
        const double value = values[i];
        squares += value * value;
        for (double& sum : sums) {
            sum += (bits & 1U) != 0 ? value : -value;
            bits >>= 1U;
        }
    }
    if (values.empty() || !std::isfinite(squares)) return {};
    const double length = std::sqrt(squares);
    std::vector<double> projection{length / std::sqrt(static_cast<double>(values.size()))};
    for (const double sum : sums)
        projection.push_back(length > 0 ? sum / length : 0);
    return projection;
}

} // namespace fathom::probes
