#pragma once

#include "cli/simulate/policy.hpp"
#include "core/decide/order_jobs.hpp"

namespace fathom::simulation {

/// Whether a policy knows how busy units have been, below which jobs may wait for a place that suits them better.
enum class LoadKnowledge { kMeasured, kAssumedFull };

/// Starts jobs as the router's order does (core/decide/order_book). Load is how busy units have been
/// (core/decide/busy_share), worths come from the newest arrivals, the load of projects from what they hold and have
/// used (core/decide/fair_share). Budgets and deadlines are hard: a job for which no place is left is given up.
PolicyMaker order_policy(OrderRule rule, LoadKnowledge load = LoadKnowledge::kMeasured);

} // namespace fathom::simulation
