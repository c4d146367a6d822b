#include "core/decide/prediction/neighbours.hpp"

#include "core/base/portable_math.hpp"

#include <algorithm>

namespace fathom {
namespace {

constexpr double kBubble = 1; ///< its pressure

/// Of one operator beside so many held cores of that pressure each.
double factor_at(const LoadCurve& load, double held_cores, double pressure)
{
    if (load.bubbles.empty()) return load.at(held_cores).factor;
    if (load.copies.empty() || pressure >= kBubble) return load.beside_bubbles(held_cores * pressure).factor;
    const double copies = portable::log(load.at(held_cores).factor);
    const double own = std::min(load.pressure ? load.pressure->per_core : kUsualPressure, kBubble);
    if (pressure <= own) {
        // Copies cost by their pressure, and by what else they share: a core's other hardware thread, clock, power.
        const double fewer = own > 0 ? load.at(held_cores * pressure / own).factor : 1;
        return portable::exp((1 - own) * copies + own * portable::log(fewer));
    }
    const double bubbles = portable::log(load.beside_bubbles(held_cores).factor);
    return portable::exp(copies + (pressure - own) / (kBubble - own) * (bubbles - copies));
}

/// No more than factor_at() of as many held cores or more that make as much pressure together or more.
double least_factor_at(const LoadCurve& load, double held_cores, double pressure)
{
    if (load.bubbles.empty() || load.copies.empty()) return factor_at(load, held_cores, pressure);
    const double bubble_cores = std::min(held_cores, held_cores * pressure);
    return std::min(load.at(bubble_cores).factor, load.beside_bubbles(held_cores * pressure).factor);
}

/// The most that neighbours of at most that pressure, at least a bubble, cost it.
double most_factor_at(const LoadCurve& load, double held_cores, double pressure)
{
    const double beside_copies = load.at(held_cores).high;
    if (load.bubbles.empty()) return beside_copies;
    return std::max(beside_copies, load.beside_bubbles(held_cores * pressure).high);
}

/// Of the whole run: each part takes its own factor times as long.
template <typename FactorOf>
double whole_factor(double single_s, std::span<const ScaledPart> parts, const FactorOf& factor_of)
{
    double whole = 1;
    for (const ScaledPart& part : parts) {
        if (part.load != nullptr) whole += part.total_s / single_s * (factor_of(*part.load) - 1);
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
    const double expected = whole_factor(
        single_s, parts, [&](const LoadCurve& load) { return factor_at(load, held.expected, held.pressure); });
    const double most = whole_factor(single_s, parts, [&](const LoadCurve& load) {
        return most_factor_at(load, std::max(held.most, held.expected), std::max(held.pressure, kBubble));
    });
    return {.run_s = alone.run_s * expected, .low_s = alone.low_s, .high_s = alone.high_s * most};
}

double least_neighbour_factor(double single_s, std::span<const ScaledPart> parts, const HeldCores& held)
{
    if (!(single_s > 0) || !knows_neighbours(parts)) return 1;
    return whole_factor(single_s, parts,
                        [&](const LoadCurve& load) { return least_factor_at(load, held.expected, held.pressure); });
}

} // namespace fathom
