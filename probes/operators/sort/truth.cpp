#include "probes/operators/sort/truth.hpp"

#include "probes/operators/random.hpp"

#include <cstddef>

namespace fathom::probes {
namespace {

/// What any order of the same keys has in common.
struct Contents {
    std::uint64_t sum{};
    std::uint64_t mixed{}; ///< of squares, so that keys cannot make up for each other as in a plain sum

    void add(std::uint64_t key)
    {
        sum += key;
        mixed += key * key ^ key >> 32U;
    }
    bool operator==(const Contents&) const = default;
};

} // namespace

double sort_error(std::span<const std::uint64_t> sorted, std::uint64_t seed)
{
    Contents found;
    Contents truth;
    std::size_t misplaced = 0;
    for (std::size_t i = 0; i < sorted.size(); ++i) {
        found.add(sorted[i]);
        truth.add(random_bits(seed, i)); // from the seed again: the input may have been damaged, too
        if (i > 0 && sorted[i - 1] > sorted[i]) ++misplaced;
    }
    if (found != truth) return 1;
    return static_cast<double>(misplaced) / static_cast<double>(sorted.size());
}

} // namespace fathom::probes
