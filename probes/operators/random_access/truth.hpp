#pragma once

#include "probes/operators/random.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

/// What the implementations of random_access share: the nodes, their cycle, and the check.
namespace fathom::probes {

/// A cache line of its own: every step loads one.
struct alignas(64) ChaseNode {
    std::uint32_t next;
    std::uint32_t value;
};
static_assert(sizeof(ChaseNode) == 64);

/// What a walk has seen.
struct ChaseTrace {
    std::uint64_t end{}; ///< the node behind the last step
    std::uint64_t sum{}; ///< of the values of the nodes passed
};

/// Walks are of this many steps, so that they can be walked side by side. Enough steps that a walk's start, which
/// the processor may overlap with the end of the walk before, does not count.
inline constexpr std::size_t kChaseSteps = 4096;

constexpr std::uint32_t chase_value(std::uint64_t seed, std::size_t node)
{
    return static_cast<std::uint32_t>(random_bits(seed + 1, node));
}

/// A random cycle through n nodes, cut into walks.
class ChaseCycle {
  public:
    ChaseCycle() = default;
    ChaseCycle(std::size_t n, std::uint64_t seed);

    /// Nodes in the order in which the cycle passes them.
    std::span<const std::uint32_t> order() const { return order_; }

    std::size_t walk_count() const { return (order_.size() + kChaseSteps - 1) / kChaseSteps; }
    std::size_t walk_begin(std::size_t walk) const { return walk * kChaseSteps; }
    std::size_t walk_end(std::size_t walk) const;

    /// The share of walks that ended elsewhere or passed other nodes than the cycle says.
    double error(std::span<const ChaseTrace> traces) const;

  private:
    std::uint64_t seed_{};
    std::vector<std::uint32_t> order_;
};

} // namespace fathom::probes
