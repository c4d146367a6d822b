#pragma once

#include "core/schedule/schedule.hpp"
#include "server/catalog/catalog_snapshot.hpp"

#include <chrono>
#include <random>
#include <span>
#include <vector>

/// A random network and random jobs for tests/bench/routing and tests/bench/cycle, the same in each run.
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

/// The users' worst case: half of the units of each unit type are taken, each for an hour to a day, and there is a load
/// curve of each of its operators. Its columns must be made afterwards.
void take_half(RoutingWorld& world);

/// What jobs of one kind have in common: one to six operators, up to eight units, and mostly nothing but an early end.
RouteRequest make_kind(Random& random, int number);

/// Of processor time, of this thread: decisions wait for nothing, and others may use the machine.
double thread_ms();

/// A job of the kind: with a deadline and a budget of its own where the kind has them.
RouteRequest make_job(Random& random, const RouteRequest& kind, Timestamp now);

/// A waiting job of any of the kinds; jobs that differ in nothing but their names are of one ReadyJob::kind.
ReadyJob make_ready_job(Random& random, std::span<const RouteRequest> kinds, int number, double longest_wait_s,
                        Timestamp now);

inline constexpr int kKinds = 200;                                    ///< of jobs
inline constexpr std::size_t kBatchJobs = 4096;                       ///< RoutingService's
inline constexpr auto kMeteringPeriod = std::chrono::seconds(604800); ///< RoutingSettings'

} // namespace fathom
