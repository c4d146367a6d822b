#include "core/schedule/decided_places.hpp"

#include <algorithm>

namespace fathom {

bool wants_units(const Decision& decision)
{
    return decision.winner && decision.quota_obstacle.empty() &&
           !decision.candidates[*decision.winner].plan.window.has_value();
}

std::optional<std::size_t> free_place(const Decision& decision)
{
    const auto found = std::find_if(decision.candidates.begin(), decision.candidates.end(),
                                    [](const Candidate& one) { return one.feasible && one.plan.start_s <= 0; });
    if (found == decision.candidates.end()) return std::nullopt;
    return static_cast<std::size_t>(found - decision.candidates.begin());
}

std::optional<std::size_t> later_place(const Decision& decision, const UnitTypeId& unit_type)
{
    const auto found = std::find_if(decision.candidates.begin(), decision.candidates.end(), [&](const Candidate& one) {
        return one.feasible && one.plan.start_s > 0 && !one.plan.window && one.unit_type_id == unit_type;
    });
    if (found == decision.candidates.end()) return std::nullopt;
    return static_cast<std::size_t>(found - decision.candidates.begin());
}

void put_first(Decision& decision, std::size_t place)
{
    decision.winner = 0;
    decision.can_start_now = true;
    if (place == 0) return;
    Candidate& alone = decision.candidates.front();
    alone.reason = "would be chosen if the job were alone; left to jobs that it suits better, or that go first";
    const auto begin = decision.candidates.begin();
    std::rotate(begin, begin + static_cast<std::ptrdiff_t>(place), begin + static_cast<std::ptrdiff_t>(place) + 1);
    decision.candidates.front().reason = "the best use of what is free for all jobs that wait";
}

} // namespace fathom
