#pragma once

#include <cstdint>
#include <span>

namespace fathom::probes {

/// What the implementations of sort share: the keys, random_bits(seed, i), and the check. The share of keys
/// that are smaller than the one before; 1 when the keys are not those of the seed, whatever their order.
double sort_error(std::span<const std::uint64_t> sorted, std::uint64_t seed);

} // namespace fathom::probes
