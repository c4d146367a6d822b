#include "core/decide/queue/rank_line.hpp"

#include "core/base/result.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <utility>
#include <vector>

namespace fathom {
namespace {

constexpr std::size_t kFew = 8; ///< so many are put into a long line one by one

} // namespace

std::vector<RankLine::InLine>::iterator RankLine::find(PriorityRank rank) const
{
    return std::lower_bound(line_.begin(), line_.end(), rank,
                            [](const InLine& one, const PriorityRank& wanted) { return one.rank < wanted; });
}

void RankLine::add(PriorityRank rank, std::int64_t units)
{
    coming_.push_back({rank, units, 0});
}

void RankLine::settle() const
{
    if (coming_.empty()) return;
    const auto goes_before = [](const InLine& a, const InLine& b) { return a.rank < b.rank; };
    if (coming_.size() <= kFew) {
        for (const InLine& one : coming_) {
            const auto place = find(one.rank);
            summed_ = std::min(summed_, static_cast<std::size_t>(place - line_.begin()));
            line_.insert(place, one);
        }
    } else {
        std::sort(coming_.begin(), coming_.end(), goes_before);
        summed_ = std::min(summed_, static_cast<std::size_t>(find(coming_.front().rank) - line_.begin()));
        std::vector<InLine> merged;
        merged.reserve(line_.size() + coming_.size());
        std::merge(line_.begin(), line_.end(), coming_.begin(), coming_.end(), std::back_inserter(merged), goes_before);
        line_ = std::move(merged);
    }
    coming_.clear();
}

void RankLine::remove(PriorityRank rank)
{
    settle();
    const auto place = find(rank);
    FATHOM_ASSERT(place != line_.end() && place->rank == rank);
    summed_ = std::min(summed_, static_cast<std::size_t>(place - line_.begin()));
    line_.erase(place);
}

void RankLine::clear()
{
    line_.clear();
    coming_.clear();
    summed_ = 0;
}

std::int64_t RankLine::units_before(PriorityRank rank) const
{
    settle();
    const auto wanted = static_cast<std::size_t>(find(rank) - line_.begin());
    if (wanted == 0) return 0;
    for (; summed_ < wanted; ++summed_)
        line_[summed_].units_before = summed_ == 0 ? 0 : line_[summed_ - 1].units_before + line_[summed_ - 1].units;
    return line_[wanted - 1].units_before + line_[wanted - 1].units;
}

} // namespace fathom
