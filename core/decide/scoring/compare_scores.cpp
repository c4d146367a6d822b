#include "core/decide/scoring/compare_scores.hpp"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

namespace fathom {
namespace {

void rank_by(std::span<ComparedScore* const> scores, std::optional<double> ComparedScore::* score,
             std::optional<std::int64_t> ComparedScore::* rank)
{
    std::vector<double> sorted;
    for (const ComparedScore* one : scores) {
        if (one->*score) sorted.push_back(*(one->*score));
    }
    std::sort(sorted.begin(), sorted.end(), std::greater<>());
    for (ComparedScore* one : scores) {
        one->*rank = std::nullopt;
        if (!(one->*score)) continue;
        const auto first = std::lower_bound(sorted.begin(), sorted.end(), *(one->*score), std::greater<>());
        one->*rank = first - sorted.begin() + 1;
    }
}

} // namespace

void rank_scores(std::span<ComparedScore* const> scores)
{
    rank_by(scores, &ComparedScore::before, &ComparedScore::rank_before);
    rank_by(scores, &ComparedScore::after, &ComparedScore::rank_after);
}

} // namespace fathom
