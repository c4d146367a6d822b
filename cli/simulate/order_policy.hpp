#pragma once

#include "cli/simulate/engine.hpp"

namespace fathom {

/// Whether a rule is told how busy units have been, below which jobs may wait for a place that suits them better.
enum class LoadKnowledge { kTaken, kAssumedFull };

/// order_starts() as a simulation's rule. Load is the unit types' busy share (core/decide/busy_share); worths are taken
/// from the arrivals that the queue remembers, again after every 50 of them; before the first 50 they are not known.
StartRule order_policy(const OrderSettings& settings, LoadKnowledge knowledge = LoadKnowledge::kTaken);

} // namespace fathom
