#include "probes/operators/reduction/truth.hpp"

#include "probes/operators/checksum.hpp"

#include <cmath>
#include <cstring>

namespace fathom::probes {

double reduction_error(std::span<const double> results, std::size_t n, std::uint64_t seed)
{
    double largest = 0;
    for (std::size_t begin = 0; begin < results.size(); begin += n) {
        for (std::size_t i = 0; i < n; ++i) {
            const double difference = std::abs(results[begin + i] - reduction_truth(seed, i));
            if (!(difference <= largest)) largest = difference; // keeps a NaN
        }
    }
    return largest / 0x1p39;
}

std::string reduction_checksum(std::span<const double> results, std::size_t n)
{
    constexpr double kOne = 0x1p14; // rounded_checksum then rounds to whole numbers
    for (std::size_t begin = n; begin < results.size(); begin += n) {
        if (std::memcmp(results.data() + begin, results.data(), n * sizeof(double)) != 0)
            return rounded_checksum(results, kOne);
    }
    return rounded_checksum(results.first(n), kOne);
}

} // namespace fathom::probes
