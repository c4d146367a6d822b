#include "core/decide/probing/copies_plan.hpp"

#include <algorithm>

namespace fathom {

std::vector<std::int64_t> plan_copies(std::int64_t unit_count, std::int64_t most_copies)
{
    constexpr std::int64_t kLeast = 2;
    const std::int64_t all = std::clamp(unit_count, kLeast, std::max(most_copies, kLeast));
    std::vector<std::int64_t> counts{all};
    if (all > kLeast) counts.push_back(kLeast);
    const std::int64_t between = (all + kLeast) / 2;
    if (between > kLeast && between < all) counts.push_back(between);
    return counts;
}

} // namespace fathom
