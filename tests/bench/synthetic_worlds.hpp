#pragma once

#include "tests/bench/ordering_worlds.hpp"

#include <vector>

namespace fathom::simulation {

/// Worlds that are drawn and nothing else, for choosing parameters: what was measured or logged anywhere is left for
/// confirming the choice. They differ in load, in how unlike unit types are and how differently they suit kinds of
/// jobs, in how unlike jobs are in length, in width, in bursts, and in how well run times are known.
std::vector<OrderingWorld> synthetic_worlds();

} // namespace fathom::simulation
