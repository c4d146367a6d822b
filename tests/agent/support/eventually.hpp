#pragma once

#include <chrono>
#include <functional>
#include <thread>

namespace fathom::agent::test {

/// Waits until `condition` holds, which another thread or process brings about; false after a minute.
inline bool eventually(const std::function<bool()>& condition)
{
    const auto limit = std::chrono::steady_clock::now() + std::chrono::minutes(1);
    while (!condition()) {
        if (std::chrono::steady_clock::now() > limit) return false;
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    return true;
}

} // namespace fathom::agent::test
