#pragma once
#include <limits>

namespace fathom::simulation {

/// A figure of which there was nothing to count.
inline constexpr double kNoFigure = std::numeric_limits<double>::quiet_NaN();

} // namespace fathom::simulation
