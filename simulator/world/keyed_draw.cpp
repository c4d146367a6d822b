#include "simulator/world/keyed_draw.hpp"

#include "core/base/portable_math.hpp"

#include <cmath>

namespace fathom::simulation {
namespace {

/// The finalizer of SplitMix64 (Steele, Lea, Flood, OOPSLA 2014): each bit of the result depends on all of the
/// argument.
std::uint64_t mix(std::uint64_t x)
{
    x += 0x9E3779B97F4A7C15ULL;
    x = (x ^ (x >> 30U)) * 0xBF58476D1CE4E5B9ULL;
    x = (x ^ (x >> 27U)) * 0x94D049BB133111EBULL;
    return x ^ (x >> 31U);
}

std::uint64_t bits_of(std::uint64_t seed, std::uint64_t purpose, std::uint64_t a, std::uint64_t b)
{
    return mix(mix(mix(mix(seed) ^ purpose) ^ a) ^ b);
}

double to_unit(std::uint64_t bits)
{
    return static_cast<double>(bits >> 11U) * 0x1p-53;
}

} // namespace

double uniform_of(std::uint64_t seed, std::uint64_t purpose, std::uint64_t a, std::uint64_t b)
{
    return to_unit(bits_of(seed, purpose, a, b));
}

double normal_of(std::uint64_t seed, std::uint64_t purpose, std::uint64_t a, std::uint64_t b)
{
    const std::uint64_t bits = bits_of(seed, purpose, a, b);
    const double radius = std::sqrt(-2 * portable::log(1 - to_unit(bits))); // Box and Muller; 1 − u is never 0
    return radius * portable::cos_turns(to_unit(mix(bits)));
}

} // namespace fathom::simulation
