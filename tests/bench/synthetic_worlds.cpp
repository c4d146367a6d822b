#include "tests/bench/synthetic_worlds.hpp"

#include "core/base/portable_math.hpp"
#include "simulator/figures/network_load.hpp"
#include "simulator/world/draw.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <utility>

namespace fathom::simulation {
namespace {

constexpr std::size_t kJobTypes = 12;
constexpr std::size_t kJobs = 3000;
constexpr double kMedianWork_s = 3600;
constexpr double kBurst_s = 6 * 3600.0; ///< between two changes of how fast jobs come

struct WorldShape {
    std::string name;
    double load = 0.85;
    std::size_t unit_types = 5;
    double speed_spread = 0.5;    ///< of ln of a unit type's speed
    double affinity_spread = 0.5; ///< of ln of how well it suits a job type
    double work_spread = 1.5;     ///< of ln of a job's work
    double wide_share = 0;        ///< jobs on 2, 4 or 8 units
    double burst = 1;             ///< jobs come so many times as fast in every other period as in the others
    double job_noise = 0.1;       ///< of ln(expected / true work)
    double measurement_noise = 0.04;
};

Network make_network(const WorldShape& shape, Draw& draw)
{
    Network network;
    for (std::size_t type = 0; type < kJobTypes; ++type)
        network.job_types.push_back({fmt::format("type_{}", type), Scaling::kFixed});
    for (std::size_t number = 0; number < shape.unit_types; ++number) {
        network.centers.emplace_back().name = fmt::format("center_{}", number);
        UnitType& type = network.unit_types.emplace_back();
        type.name = "core";
        type.center = number;
        type.unit_count = static_cast<std::int64_t>(8 + draw.index(57));
        const double speed = portable::exp(shape.speed_spread * draw.normal());
        for (std::size_t job_type = 0; job_type < kJobTypes; ++job_type)
            type.rates.emplace_back().rate = speed * portable::exp(shape.affinity_spread * draw.normal());
    }
    return network;
}

Workload make_workload(const WorldShape& shape, Draw& draw)
{
    Workload workload;
    double now_s = 0;
    for (std::size_t i = 0; i < kJobs; ++i) {
        const bool is_burst = static_cast<std::int64_t>(now_s / kBurst_s) % 2 == 0;
        now_s += draw.exponential(is_burst ? 60 / shape.burst : 60);
        Job& job = workload.jobs.emplace_back();
        job.arrival_s = now_s;
        job.job_type = static_cast<std::uint32_t>(draw.index(kJobTypes));
        job.work = kMedianWork_s * portable::exp(shape.work_spread * draw.normal());
        if (draw.uniform() < shape.wide_share) job.unit_count = std::int32_t{2} << draw.index(3);
    }
    workload.first_counted = kJobs / 5;
    workload.end_counted = kJobs * 4 / 5;
    return workload;
}

/// Lengths are scaled, not arrivals, so that bursts stay as long as they are.
Scenario draw_world(const WorldShape& shape, std::uint64_t seed)
{
    Draw draw(seed);
    Scenario scenario;
    scenario.network = make_network(shape, draw);
    scenario.workload = make_workload(shape, draw);
    scenario.knowledge.job_noise = shape.job_noise;
    scenario.knowledge.measurement_noise = shape.measurement_noise;
    const double scale = shape.load / load_of(scenario);
    for (Job& job : scenario.workload.jobs)
        job.work *= scale;
    return scenario;
}

std::vector<WorldShape> shapes()
{
    std::vector<WorldShape> all;
    for (const double load : {0.5, 0.7, 0.85, 0.95, 1.1})
        all.push_back({.name = fmt::format("plain, load {}", load), .load = load});
    all.push_back({.name = "speeds alone differ", .affinity_spread = 0});
    all.push_back({.name = "places suit jobs very differently", .affinity_spread = 1});
    all.push_back({.name = "jobs of one length", .work_spread = 0.2});
    all.push_back({.name = "few long jobs have most of the work", .work_spread = 2.2});
    all.push_back({.name = "wide jobs", .load = 0.7, .wide_share = 0.3});
    all.push_back({.name = "bursts", .load = 0.7, .burst = 4});
    all.push_back({.name = "many centers", .unit_types = 20});
    all.push_back({.name = "two centers", .unit_types = 2});
    all.push_back({.name = "run times known exactly", .job_noise = 0, .measurement_noise = 0});
    all.push_back({.name = "run times known badly", .job_noise = 0.5, .measurement_noise = 0.2});
    return all;
}

} // namespace

std::vector<OrderingWorld> synthetic_worlds()
{
    std::vector<OrderingWorld> worlds;
    for (const WorldShape& shape : shapes()) {
        OrderingWorld world;
        world.name = shape.name;
        world.draw = [shape](std::uint64_t seed) { return draw_world(shape, seed); };
        worlds.push_back(std::move(world));
    }
    return worlds;
}

} // namespace fathom::simulation
