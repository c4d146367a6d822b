#pragma once

#include "core/schedule/unit_ledger.hpp"
#include "server/routing/catalog_snapshot.hpp"

#include <random>
#include <vector>

/// A random network and random jobs for tests/bench/routing, the same in each run.
namespace fathom {

using Random = std::mt19937_64;

double uniform(Random& random, double low, double high);
/// Both included.
int pick(Random& random, int low, int high);

/// Everything is measured in the days before.
const Timestamp kRoutingWorldTime = parse_rfc3339("2026-11-18T09:10:00Z").value();

/// What the server knows when it begins a page.
struct RoutingWorld {
    server::CatalogSnapshot catalog;
    std::vector<Reservation> reserved; ///< what attempts hold
};

/// Four unit types a center, with measurements of 24 operators at three sizes, scaling curves up to eight units, and
/// bandwidth and prices by the hour.
RoutingWorld make_routing_world(int centers);

/// What jobs of one kind have in common: one to six operators, up to eight units, and mostly nothing but an early end.
RouteRequest make_kind(Random& random, int number);

/// A job of the kind: with a deadline and a budget of its own where the kind has them.
RouteRequest make_job(Random& random, const RouteRequest& kind, Timestamp now);

} // namespace fathom
