#pragma once

#include "core/decide/queue/order_jobs.hpp"
#include "simulator/policies/policy.hpp"
#include "simulator/policies/shadow_price_tracker.hpp"

namespace fathom::simulation {

/// Whether a policy knows how busy units have been, below which jobs may wait for a place that suits them better.
enum class LoadKnowledge { kMeasured, kAssumedFull };

/// Loads of units and of projects, and what is free for jobs that care for more than an early end, change all the time,
/// and each change concerns all that waits. So much work a decision may go into each of that, counted in places of
/// jobs: with few jobs all is of this moment, with very many it is some decisions old.
struct DecisionEffort {
    std::size_t places = 256;
    std::size_t project_places = 2048; ///< more where it is to be shared, which goes by loads alone
    PriceMemory memory{};              ///< what loads and shadow prices come from
};

/// Starts jobs as the router's order does (core/decide/queue/wait_queue). Load is how busy units have been
/// (core/decide/queue/busy_share), shadow prices come from the newest arrivals, the load of projects from what they
/// hold and have used (core/decide/queue/fair_share). Budgets and deadlines are hard: a job for which no place is left
/// is given up.
PolicyMaker order_policy(const OrderSettings& settings, LoadKnowledge load = LoadKnowledge::kMeasured,
                         const DecisionEffort& effort = {});
/// With the settings in use.
PolicyMaker order_policy(OrderRule rule, LoadKnowledge load = LoadKnowledge::kMeasured,
                         const DecisionEffort& effort = {});

} // namespace fathom::simulation
