#include "probes/operators/trigonometric/truth.hpp"

#include <cmath>

namespace fathom::probes {

double trigonometric_error(std::span<const double> sines, std::span<const double> cosines, std::uint64_t seed,
                           std::size_t n)
{
    double largest = 0;
    const auto compare = [&largest](double found, long double truth) {
        const double difference = std::abs(static_cast<double>(static_cast<long double>(found) - truth));
        if (!(difference <= largest)) largest = difference; // keeps a NaN
    };
    for (std::size_t i = 0; i < sines.size(); ++i) {
        const long double angle = trigonometric_angle(seed, n, i);
        compare(sines[i], std::sin(angle));
        compare(cosines[i], std::cos(angle));
    }
    return largest;
}

} // namespace fathom::probes
