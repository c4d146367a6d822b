#pragma once

#include "core/decide/prediction/predict_units.hpp"

#include <span>

namespace fathom {

/// Of a host's cores, those that others hold while a job runs there, on average over its time.
struct HeldCores {
    double expected{};
    double most{};                   ///< all that its units leave
    double pressure{kUsualPressure}; ///< on memory, of each of those that are expected, in bubbles
};

/// Whether it is known what neighbours cost any of a run's parts.
bool knows_neighbours(std::span<const ScaledPart> parts);

/// What is known of a job's use of memory: of its parts, by their time; the rest makes the usual pressure, and is not
/// slowed.
/// @return empty: of none of them the pressure was measured.
std::optional<MemoryUse> memory_use(double single_s, std::span<const ScaledPart> parts);

/// A run beside neighbours: each part of it takes its load curve's factor times as long as alone, at the load that is
/// expected; what has no curve, such as the start-up, takes as long as alone. Where it was measured
/// beside bubbles, neighbours of the same pressure on memory as its own count as copies of it, those of more as far
/// towards a bubble as their pressure lies, and of those of less the share of the copies' cost that is their pressure's
/// goes with it: what else neighbours share with it they share without any pressure, too. Its interval reaches from
/// that of the run alone to that beside the most neighbours that there can be, each a copy, a bubble or, where they
/// make more pressure, as they are, whichever costs most: who else comes or goes meanwhile nobody knows.
/// @param alone     on however many units.
/// @param single_s  on one unit: of which the parts' times are parts.
RunTime beside_neighbours(const RunTime& alone, double single_s, std::span<const ScaledPart> parts,
                          const HeldCores& held);

/// For bounds: by what beside_neighbours() makes a run longer at least, beside the expected cores or more of them that
/// make no less pressure together.
double least_neighbour_factor(double single_s, std::span<const ScaledPart> parts, const HeldCores& held);

} // namespace fathom
