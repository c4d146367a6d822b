#pragma once

#include "cli/simulate/engine.hpp"
#include "core/decide/unit_worth.hpp"

namespace fathom {

/// Whether a rule is told the load, below which jobs may wait for a place that suits them better.
enum class LoadKnowledge { kTaken, kAssumedFull };

/// order_starts() as a simulation's rule. Worth and load of the unit types are taken from the arrivals that the queue
/// remembers, again after every 50 of them; before the first 50 they are not known.
StartRule order_policy(const OrderSettings& settings, LoadKnowledge knowledge = LoadKnowledge::kTaken);

} // namespace fathom
