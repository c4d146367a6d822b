#pragma once

#include "core/decide/prediction/predict_units.hpp"

#include <span>

namespace fathom {

/// Of a host's cores, those that others hold while a job runs there, on average over its time.
struct HeldCores {
    double expected{};
    double most{}; ///< all that its units leave
};

/// Whether it is known what neighbours cost any of a run's parts.
bool knows_neighbours(std::span<const ScaledPart> parts);

/// A run beside neighbours: each part of it takes its load curve's factor times as long as alone, at the load that is
/// expected; what has no curve, such as the start-up, takes as long as alone. Its interval reaches from that of the run
/// alone to that beside the most neighbours that there can be: who else comes or goes meanwhile nobody knows.
/// @param alone     on however many units.
/// @param single_s  on one unit: of which the parts' times are parts.
RunTime beside_neighbours(const RunTime& alone, double single_s, std::span<const ScaledPart> parts,
                          const HeldCores& held);

} // namespace fathom
