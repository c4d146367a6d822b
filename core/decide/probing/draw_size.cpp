#include "core/decide/probing/draw_size.hpp"

#include "core/model/formula.hpp"
#include "core/model/operator_manifest.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace fathom {
namespace {

/// splitmix64 (Steele, Lea, Flood, OOPSLA 2014): the same everywhere, unlike the standard library's distributions.
std::uint64_t next_random(std::uint64_t& state)
{
    state += 0x9E3779B97F4A7C15U;
    std::uint64_t mixed = state;
    mixed = (mixed ^ (mixed >> 30U)) * 0xBF58476D1CE4E5B9U;
    mixed = (mixed ^ (mixed >> 27U)) * 0x94D049BB133111EBU;
    return mixed ^ (mixed >> 31U);
}

std::int64_t draw_value(const OperatorParameter& parameter, std::int64_t asked, std::uint64_t random)
{
    const auto reach = static_cast<std::int64_t>(std::floor(parameter.draw_share * static_cast<double>(asked)));
    const auto least = std::max(asked - reach, parameter.min);
    const auto most = std::min(asked + reach, parameter.max);
    const std::int64_t steps_down = (asked - least) / parameter.draw_step;
    const std::int64_t steps_up = (most - asked) / parameter.draw_step;
    const auto choices = static_cast<std::uint64_t>(steps_down + steps_up + 1);
    return asked + (static_cast<std::int64_t>(random % choices) - steps_down) * parameter.draw_step;
}

} // namespace

Parameters draw_size(const OperatorManifest& manifest, const Parameters& asked, std::uint64_t seed)
{
    Parameters drawn = asked;
    for (const OperatorParameter& parameter : manifest.parameters) {
        const std::uint64_t random = next_random(seed);
        const auto value = drawn.find(parameter.name);
        if (value != drawn.end() && parameter.draw_share > 0)
            value->second = draw_value(parameter, value->second, random);
    }
    return drawn;
}

} // namespace fathom
