#include "agent/link/backoff.hpp"

#include <algorithm>
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

} // namespace fathom::agent
