#pragma once

#include "probes/operators/random.hpp"

#include <cstddef>
#include <cstdint>
#include <span>

/// What the implementations of trigonometric share: the angles, and the check.
namespace fathom::probes {

/// Angle `i` of `n`: phases as programs have them, some turns, so that the reduction to one turn has work to do.
/// Behind the last one, where arrays are padded, 0.
constexpr double trigonometric_angle(std::uint64_t seed, std::size_t n, std::size_t i)
{
    constexpr double kLargestAngle = 100;
    return i < n ? kLargestAngle * random_signed(seed, i) : 0;
}

/// The largest error of the sines and cosines of `n` angles and of the padding. The C library's functions in
/// extended precision share no code with vector functions.
double trigonometric_error(std::span<const double> sines, std::span<const double> cosines, std::uint64_t seed,
                           std::size_t n);

} // namespace fathom::probes
