#pragma once

#include <bit>
#include <cstdint>

namespace fathom::probes {

/// Random bits for a position: any element can be computed without those before it, by any thread.
/// The finalizer is splitmix64's (Steele, Lea, Flood, OOPSLA 2014).
constexpr std::uint64_t random_bits(std::uint64_t seed, std::uint64_t index)
{
    std::uint64_t z = seed * 0xd1342543de82ef95U + (index + 1) * 0x9e3779b97f4a7c15U;
    z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27U)) * 0x94d049bb133111ebU;
    return z ^ (z >> 31U);
}

/// Uniform in [0, 1), a multiple of 2^-53.
constexpr double random_unit(std::uint64_t seed, std::uint64_t index)
{
    return static_cast<double>(random_bits(seed, index) >> 11U) * 0x1p-53;
}

/// Uniform in [-1, 1).
constexpr double random_signed(std::uint64_t seed, std::uint64_t index)
{
    return 2 * random_unit(seed, index) - 1;
}

} // namespace fathom::probes
