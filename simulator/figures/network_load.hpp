#pragma once

#include "simulator/world/scenario.hpp"

namespace fathom::simulation {

/// Load of the network: the least share of its unit-time in which the counted jobs could be done, each where it suits
/// the whole best (core/decide/queue/shadow_price).
double load_of(const Scenario& scenario);

} // namespace fathom::simulation
