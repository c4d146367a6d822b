#pragma once

#include <chrono>

namespace fathom::simulation {

/// What `act` returns; the time that it took on this machine is added to `sum_s`.
template <class Act>
auto timed(double& sum_s, Act act)
{
    const auto begin = std::chrono::steady_clock::now();
    auto result = act();
    sum_s += std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    return result;
}

} // namespace fathom::simulation
