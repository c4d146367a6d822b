#pragma once

#include "core/decide/corun/pair_knowledge.hpp"

#include <set>
#include <string>
#include <vector>

namespace fathom {

/// What a few kinds keep beside each other, as plain figures: what a decision on several jobs takes from the history of
/// pairs, so that it can be made again without that.
class PairTable final : public PairKnowledge {
  public:
    PairTable() = default;
    /// Of those of these kinds of which `pairs` knows something.
    PairTable(const std::set<std::string>& some, const PairKnowledge& pairs);

    bool knows(std::string_view kind) const override;
    /// A source of kDefault where one of both is not in the table.
    PairShare expect(const PairMember& kernel, const PairMember& beside) const override;
    bool is_excluded(const PairMember& /*a*/, const PairMember& /*b*/) const override { return false; }
    /// Whether the kinds are in order, each once, and there is a share above 0 for each pair of them.
    bool is_whole() const;

    std::vector<std::string> kinds; ///< in order
    std::vector<PairShare> shares;  ///< of each kind in order, beside each kind in order
};

/// A table holds at most so many kinds: with them it has a few thousand figures.
inline constexpr std::size_t kMaxPairTableKinds = 48;

} // namespace fathom
