#include "core/decide/corun/pair_table.hpp"

#include <algorithm>
#include <cstddef>
#include <optional>

namespace fathom {
namespace {

std::optional<std::size_t> index_in(const std::vector<std::string>& kinds, std::string_view kind)
{
    const auto found = std::lower_bound(kinds.begin(), kinds.end(), kind);
    if (found == kinds.end() || *found != kind) return std::nullopt;
    return static_cast<std::size_t>(found - kinds.begin());
}

} // namespace

PairTable::PairTable(const std::set<std::string>& some, const PairKnowledge& pairs)
{
    for (const std::string& kind : some) {
        if (pairs.knows(kind)) kinds.push_back(kind);
    }
    shares.reserve(kinds.size() * kinds.size());
    for (const std::string& kind : kinds) {
        for (const std::string& beside : kinds)
            shares.push_back(pairs.expect({kind, KernelClass::kUnknown}, {beside, KernelClass::kUnknown}));
    }
}

bool PairTable::knows(std::string_view kind) const
{
    return index_in(kinds, kind).has_value();
}

PairShare PairTable::expect(const PairMember& kernel, const PairMember& beside) const
{
    const std::optional<std::size_t> row = index_in(kinds, kernel.kind);
    const std::optional<std::size_t> column = index_in(kinds, beside.kind);
    if (!row || !column) return {1, 0, 0, PairSource::kDefault};
    return shares[*row * kinds.size() + *column];
}

bool PairTable::is_whole() const
{
    const bool is_ordered = std::adjacent_find(kinds.begin(), kinds.end(),
                                               [](const auto& a, const auto& b) { return a >= b; }) == kinds.end();
    const bool is_above_0 =
        std::all_of(shares.begin(), shares.end(), [](const PairShare& one) { return one.share > 0; });
    return is_ordered && is_above_0 && shares.size() == kinds.size() * kinds.size();
}

} // namespace fathom
