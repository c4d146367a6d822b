#include "probes/profile/page_looks.hpp"

#include <algorithm>

namespace fathom::profile {

Turn choose_turn(const std::vector<std::uint64_t>& resident_bytes, std::size_t first, std::uint64_t most_bytes)
{
    Turn turn;
    const std::size_t count = resident_bytes.size();
    std::uint64_t total = 0;
    for (std::size_t i = 0; i < count; ++i) {
        const std::size_t at = (first + i) % count;
        if (resident_bytes[at] > most_bytes) turn.any_too_large = true;
        if (resident_bytes[at] == 0 || resident_bytes[at] > most_bytes) continue;
        total += resident_bytes[at];
        if (total > most_bytes) break;
        turn.chosen.push_back(at);
        turn.next = (at + 1) % count;
    }
    return turn;
}

bool LookBudget::is_due(double now_s) const
{
    return now_s - last_s_ >= std::clamp(0.4 * now_s, 0.1, 1.0);
}

bool LookBudget::affords(double now_s, std::uint64_t bytes)
{
    constexpr double kAllowance_s = 0.08;
    constexpr double kPartOfACore = 0.007;
    last_s_ = now_s;
    return spent_s_ + seconds_a_byte_ * static_cast<double>(bytes) <= kAllowance_s + kPartOfACore * now_s;
}

void LookBudget::spend(double look_s, std::uint64_t bytes)
{
    // Opening files costs the same for the smallest process, and says nothing about pages.
    constexpr std::uint64_t kTelling = 64U << 20U;
    constexpr double kUsual = 100e-9 / 4096;
    spent_s_ += look_s;
    seconds_a_byte_ = std::max(kUsual, look_s / static_cast<double>(std::max(bytes, kTelling)));
}

} // namespace fathom::profile
