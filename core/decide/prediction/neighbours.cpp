#include "core/decide/prediction/neighbours.hpp"

#include <algorithm>

namespace fathom {
namespace {

/// Of the whole run beside so many held cores.
LoadFactor factor_beside(double single_s, std::span<const ScaledPart> parts, double held_cores)
{
    LoadFactor whole;
    for (const ScaledPart& part : parts) {
        if (part.load == nullptr) continue;
        const LoadFactor factor = part.load->at(held_cores);
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

RunTime beside_neighbours(const RunTime& alone, double single_s, std::span<const ScaledPart> parts,
                          const HeldCores& held)
{
    if (!(single_s > 0) || !knows_neighbours(parts)) return alone;
    const LoadFactor expected = factor_beside(single_s, parts, held.expected);
    const LoadFactor most = factor_beside(single_s, parts, std::max(held.most, held.expected));
    return {.run_s = alone.run_s * expected.factor, .low_s = alone.low_s, .high_s = alone.high_s * most.high};
}

} // namespace fathom
