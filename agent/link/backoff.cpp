#include "agent/link/backoff.hpp"

#include "core/base/secret.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace fathom::agent {

std::chrono::milliseconds backoff_delay(const BackoffPolicy& policy, int failures, double random)
{
    const int doublings = std::clamp(failures - 1, 0, 40);
    const double longest = std::min(std::ldexp(static_cast<double>(policy.base.count()), doublings),
                                    static_cast<double>(policy.cap.count()));
    const auto delay = static_cast<std::int64_t>(longest * std::clamp(random, 0.0, 1.0));
    return std::max(policy.least, std::chrono::milliseconds(delay));
}

double random_fraction()
{
    std::array<std::uint8_t, 4> bytes{};
    fill_random(bytes);
    std::uint32_t number = 0;
    for (const std::uint8_t byte : bytes)
        number = (number << 8U) | byte;
    return static_cast<double>(number) / 4294967296.0;
}

} // namespace fathom::agent
