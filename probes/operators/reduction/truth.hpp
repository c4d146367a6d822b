#pragma once

#include "probes/operators/random.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

/// What the implementations of reduction share: the vectors, and the check.
namespace fathom::probes {

/// Element `i` of the sum: a whole number of up to 40 bits, for sums of thousands of those are exact in any order.
constexpr double reduction_truth(std::uint64_t seed, std::uint64_t i)
{
    return static_cast<double>(static_cast<std::int64_t>(random_bits(seed, i) >> 24U) - (1LL << 39U));
}

/// Element `i` of the vector of one of `ranks` ranks: random in all but the last, which holds what is missing to
/// the truth.
constexpr double reduction_input(std::uint64_t seed, std::size_t rank, std::size_t ranks, std::uint64_t i)
{
    if (rank + 1 < ranks) return reduction_truth(seed + 1 + rank, i);
    double missing = reduction_truth(seed, i);
    for (std::size_t other = 0; other < rank; ++other)
        missing -= reduction_truth(seed + 1 + other, i);
    return missing;
}

/// The largest error, relative to the largest possible element.
/// @param results  the vectors that the ranks got, one after the other, n elements each.
double reduction_error(std::span<const double> results, std::size_t n, std::uint64_t seed);

/// All ranks have the same sum, however many they are: then the digest is that of one.
std::string reduction_checksum(std::span<const double> results, std::size_t n);

} // namespace fathom::probes
