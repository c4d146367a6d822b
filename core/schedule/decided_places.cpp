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

bool is_set_aside(const Candidate& candidate)
{
    return candidate.removed_by == Filter::kSpeedup;
}

void take_back(Decision& decision, std::size_t place)
{
    const std::string& center = decision.candidates[place].center;
    take_back(decision.filter_trace, Filter::kSpeedup, center);
    const auto is_aside = [&](std::size_t index) {
        return index != place && is_set_aside(decision.candidates[index]) &&
               decision.candidates[index].center == center;
    };
    for (std::size_t i = 0; i < decision.candidates.size(); ++i) {
        if (is_aside(i)) return; // others of the center stay set aside
    }
    for (DeviceChoice& choice : decision.devices) {
        if (choice.center == center) choice.decides = false;
    }
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
