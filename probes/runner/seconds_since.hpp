#pragma once
#include <chrono>

namespace fathom {

/// Seconds by the steady clock since a moment.
inline double seconds_since(std::chrono::steady_clock::time_point start)
{
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

} // namespace fathom
