#pragma once

#include <cstdint>

namespace fathom::simulation {

/// A uniform number in [0, 1) and a normal one (mean 0, variance 1) that are functions of the keys.
double uniform_of(std::uint64_t seed, std::uint64_t purpose, std::uint64_t a, std::uint64_t b = 0);
double normal_of(std::uint64_t seed, std::uint64_t purpose, std::uint64_t a, std::uint64_t b = 0);

} // namespace fathom::simulation
