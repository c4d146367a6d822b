#include "probes/operators/stream_triad/truth.hpp"

#include <cmath>

namespace fathom::probes {

double triad_error(std::span<const double> a, std::uint64_t seed, const std::array<std::vector<double>, 2>& fed)
{
    const auto input = [&](std::size_t index, std::size_t i) {
        return fed[index].empty() ? triad_input(seed, index, i) : fed[index][i];
    };
    double largest = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
        const double difference = std::abs(a[i] - (input(0, i) + kTriadScalar * input(1, i)));
        if (!(difference <= largest)) largest = difference; // keeps a NaN
    }
    return largest / (1 + kTriadScalar);
}

} // namespace fathom::probes
