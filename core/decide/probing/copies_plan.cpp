#include "core/decide/probing/copies_plan.hpp"

#include "core/model/probe_task.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace fathom {

std::vector<std::int64_t> plan_copies(std::int64_t unit_count, std::int64_t most_copies)
{
    constexpr std::int64_t kMinCopies = 2;
    const std::int64_t all = std::clamp(unit_count, kMinCopies, std::max(most_copies, kMinCopies));
    std::vector<std::int64_t> counts{all};
    if (all > kMinCopies) counts.push_back(kMinCopies);
    const std::int64_t between = (all + kMinCopies) / 2;
    if (between > kMinCopies && between < all) counts.push_back(between);
    return counts;
}

double copies_limit_s(double limit_s)
{
    constexpr double kTimesAlone = 3; // alone, then together, as if each took twice as long
    return std::min(kTimesAlone * limit_s, kMaxProbeLimit_s);
}

} // namespace fathom
