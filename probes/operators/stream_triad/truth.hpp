#pragma once

#include "probes/operators/random.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

/// What the implementations of stream_triad share: the inputs, and the check.
namespace fathom::probes {

/// s of a = b + s·c.
inline constexpr double kTriadScalar = 3;

/// Element `i` of b (index 0) or of c (index 1).
constexpr double triad_input(std::uint64_t seed, std::size_t index, std::size_t i)
{
    return random_unit(seed + index, i);
}

/// The largest error of `a`, from the index again and not from b and c: they may be wrong too.
/// @param fed  b and c that came from other operators; empty where they are those of the seed.
double triad_error(std::span<const double> a, std::uint64_t seed, const std::array<std::vector<double>, 2>& fed);

} // namespace fathom::probes
