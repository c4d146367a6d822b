#pragma once
#include <limits>

namespace fathom {

/// The moment that never comes and the length without an end, in seconds.
inline constexpr double kNever = std::numeric_limits<double>::infinity();

} // namespace fathom
