#include "probes/operators/random_access/truth.hpp"

#include <algorithm>
#include <numeric>

namespace fathom::probes {

ChaseCycle::ChaseCycle(std::size_t n, std::uint64_t seed) : seed_(seed), order_(n)
{
    std::iota(order_.begin(), order_.end(), 0U);
    for (std::size_t i = n - 1; i > 0; --i) // Fisher and Yates
        std::swap(order_[i], order_[random_bits(seed, i) % (i + 1)]);
}

std::size_t ChaseCycle::walk_end(std::size_t walk) const
{
    return std::min((walk + 1) * kChaseSteps, order_.size());
}

double ChaseCycle::error(std::span<const ChaseTrace> traces) const
{
    std::size_t wrong = 0;
    for (std::size_t walk = 0; walk < traces.size(); ++walk) {
        std::uint64_t sum = 0;
        for (std::size_t i = walk_begin(walk); i < walk_end(walk); ++i)
            sum += chase_value(seed_, order_[i]);
        const std::uint64_t end = order_[walk_end(walk) % order_.size()];
        if (end != traces[walk].end || sum != traces[walk].sum) ++wrong;
    }
    return static_cast<double>(wrong) / static_cast<double>(traces.size());
}

} // namespace fathom::probes
