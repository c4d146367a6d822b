#include "core/decide/turn_line.hpp"

#include "core/base/result.hpp"

#include <algorithm>

namespace fathom {

std::vector<TurnLine::InLine>::const_iterator TurnLine::find(JobTurn turn) const
{
    return std::lower_bound(line_.begin(), line_.end(), turn,
                            [](const InLine& one, const JobTurn& wanted) { return one.turn < wanted; });
}

void TurnLine::add(JobTurn turn, std::int64_t units)
{
    const auto place = find(turn);
    summed_ = std::min(summed_, static_cast<std::size_t>(place - line_.begin()));
    line_.insert(place, {turn, units, 0});
}

void TurnLine::remove(JobTurn turn)
{
    const auto place = find(turn);
    FATHOM_ASSERT(place != line_.end() && place->turn == turn);
    summed_ = std::min(summed_, static_cast<std::size_t>(place - line_.begin()));
    line_.erase(place);
}

std::int64_t TurnLine::units_before(JobTurn turn) const
{
    const auto wanted = static_cast<std::size_t>(find(turn) - line_.begin());
    if (wanted == 0) return 0;
    for (; summed_ < wanted; ++summed_)
        line_[summed_].units_before = summed_ == 0 ? 0 : line_[summed_ - 1].units_before + line_[summed_ - 1].units;
    return line_[wanted - 1].units_before + line_[wanted - 1].units;
}

} // namespace fathom
