#include "core/decide/prediction/neighbours.hpp"

#include <algorithm>

namespace fathom {
namespace {

/// Of the whole run beside so many held cores of that pressure each.
LoadFactor factor_beside(double single_s, std::span<const ScaledPart> parts, double held_cores, double pressure)
{
    LoadFactor whole;
    for (const ScaledPart& part : parts) {
        if (part.load == nullptr) continue;
        const LoadCurve& load = *part.load;
        const LoadFactor factor =
            load.bubbles.empty() ? load.at(held_cores) : load.beside_bubbles(held_cores * pressure);
        const double share = part.total_s / single_s;
        whole.factor += share * (factor.factor - 1);
        whole.high += share * (factor.high - 1);
    }
    return whole;
}

} // namespace

bool knows_neighbours(std::span<const ScaledPart> parts)
{
    return std::any_of(parts.begin(), parts.end(),
                       [](const ScaledPart& part) { return part.load != nullptr && part.total_s > 0; });
}

std::optional<MemoryUse> memory_use(double single_s, std::span<const ScaledPart> parts)
{
    if (!(single_s > 0)) return std::nullopt;
    MemoryUse use;
    bool is_known = false;
    for (const ScaledPart& part : parts) {
        if (part.load == nullptr || !(part.total_s > 0)) continue;
        const double share = part.total_s / single_s;
        use.sensitivity += share * part.load->sensitivity();
        if (!part.load->pressure) continue;
        is_known = true;
        use.pressure += share * (part.load->pressure->per_core - kUsualPressure);
    }
    use.pressure = std::clamp(use.pressure, 0.0, kMaxPressure);
    return is_known ? std::optional(use) : std::nullopt;
}

RunTime beside_neighbours(const RunTime& alone, double single_s, std::span<const ScaledPart> parts,
                          const HeldCores& held)
{
    if (!(single_s > 0) || !knows_neighbours(parts)) return alone;
    constexpr double kBubble = 1;
    const LoadFactor expected = factor_beside(single_s, parts, held.expected, held.pressure);
    const LoadFactor most =
        factor_beside(single_s, parts, std::max(held.most, held.expected), std::max(held.pressure, kBubble));
    return {.run_s = alone.run_s * expected.factor, .low_s = alone.low_s, .high_s = alone.high_s * most.high};
}

} // namespace fathom
