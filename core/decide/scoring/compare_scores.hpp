#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace fathom {

/// One thing under two policies.
struct ComparedScore {
    std::optional<double> before;
    std::optional<double> after;
    std::string missing_before; ///< why there is no score
    std::string missing_after;
    // Set by rank_scores(): 1 is the best; equal scores share the better rank; empty without a score.
    std::optional<std::int64_t> rank_before{};
    std::optional<std::int64_t> rank_after{};
};

/// Ranks the scores before and those after among each other, the highest first.
void rank_scores(std::span<ComparedScore* const> scores);

} // namespace fathom
