#include "simulator/world/draw.hpp"

#include "core/base/portable_math.hpp"

#include <cmath>

namespace fathom {

Draw::Draw(std::uint64_t seed) : generator_(seed) {}

double Draw::uniform()
{
    return static_cast<double>(generator_() >> 11) * 0x1p-53;
}

double Draw::uniform(double low, double high)
{
    return low + (high - low) * uniform();
}

double Draw::exponential(double mean)
{
    return -mean * portable::log(1 - uniform());
}

double Draw::normal()
{
    const double radius = std::sqrt(-2 * portable::log(1 - uniform()));
    return radius * portable::cos_turns(uniform());
}

std::size_t Draw::index(std::size_t size)
{
    return static_cast<std::size_t>(uniform() * static_cast<double>(size));
}

} // namespace fathom
