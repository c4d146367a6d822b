#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>

namespace fathom {

/// A computed number of executions as a whole one: 1 to 10^12.
inline std::int64_t execution_count(double count)
{
    constexpr double kMax = 1e12;
    return static_cast<std::int64_t>(std::clamp(std::round(count), 1.0, kMax));
}

} // namespace fathom
