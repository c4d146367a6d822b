#include "tests/bench/ordering_worlds.hpp"

#include "tests/bench/bench_scenarios.hpp"

#include <fmt/format.h>

#include <cmath>

namespace fathom::simulation {
namespace {

constexpr std::size_t kHeap = 600; ///< jobs that come at once
constexpr std::size_t kFirstCounted = 4000;
constexpr std::size_t kEndCounted = 5000;

KnowledgeSettings exact_knowledge()
{
    KnowledgeSettings knowledge;
    knowledge.job_noise = 0;
    knowledge.measurement_noise = 0;
    knowledge.run_noise = 0;
    knowledge.learns = false;
    return knowledge;
}

struct GavelCase {
    GavelDrawing drawing;
    GpuCounts gpus{36, 36, 36};
    double noise = 0; ///< of ln(predicted / true run time): half of its variance is the job's, half the measurement's
};

OrderingWorld gavel_world(std::string name, const GavelJobTypes& types, const GavelCase& one)
{
    OrderingWorld world;
    world.name = std::move(name);
    world.draw = [types, one](std::uint64_t seed) {
        GavelDrawing drawing = one.drawing;
        drawing.seed = seed;
        Scenario scenario = gavel_scenario(types, drawing, one.gpus, kFirstCounted, kEndCounted);
        scenario.knowledge = exact_knowledge();
        scenario.knowledge.job_noise = one.noise / std::sqrt(2.0);
        scenario.knowledge.measurement_noise = one.noise / std::sqrt(2.0);
        return scenario;
    };
    return world;
}

OrderingWorld gavel_at(const std::string& name, double load, const GavelJobTypes& types, GavelCase one)
{
    one.drawing.jobs_per_hour *= load / gavel_load(types, one.drawing, one.gpus);
    return gavel_world(fmt::format("{}, load {}", name, load), types, one);
}

/// All jobs come at once, and no more: here it shows what deciding together is worth.
OrderingWorld heap(const GavelJobTypes& types)
{
    OrderingWorld world;
    world.name = fmt::format("{} jobs at once", kHeap);
    world.draw = [types](std::uint64_t seed) {
        const GavelDrawing drawing{.seed = seed, .job_count = kHeap};
        Scenario scenario = gavel_scenario(types, drawing, {36, 36, 36}, 0, kHeap);
        scenario.knowledge = exact_knowledge();
        for (Job& job : scenario.workload.jobs)
            job.arrival_s = 0;
        return scenario;
    };
    return world;
}

void add_gavel_worlds(const GavelJobTypes& types, std::vector<OrderingWorld>& worlds)
{
    const GavelCase published;
    worlds.push_back(gavel_world("36+36+36, 5.6 jobs/h", types, published));
    worlds.back().is_reference = true;
    for (const double load : {0.5, 0.7, 0.85, 0.95, 1.1})
        worlds.push_back(gavel_at("36+36+36", load, types, published));
    GavelCase other = published;
    other.gpus = {10, 50, 48};
    worlds.push_back(gavel_at("10+50+48", 0.85, types, other));
    other.gpus = {60, 20, 8};
    worlds.push_back(gavel_at("60+20+8", 0.85, types, other));
    GavelCase noisy = published;
    noisy.noise = 0.2;
    worlds.push_back(gavel_at("predictions +-20 %", 0.85, types, noisy));
    noisy.noise = 0.5;
    worlds.push_back(gavel_at("predictions +-50 %", 0.85, types, noisy));
    GavelCase several = published;
    several.drawing.has_multiple_gpus = true;
    worlds.push_back(gavel_at("1 to 8 GPUs", 0.7, types, several));
    worlds.push_back(gavel_at("1 to 8 GPUs", 0.9, types, several));
    GavelCase uniform = published;
    uniform.drawing.durations = GavelDurations::kUniform;
    worlds.push_back(gavel_at("uniform durations", 0.9, types, uniform));
    worlds.push_back(heap(types));
}

Result<void> add_log_worlds(const std::filesystem::path& folder, std::vector<OrderingWorld>& worlds)
{
    const Result<LogOnUnlikeCenters> log = LogOnUnlikeCenters::read(folder);
    if (!log) return log.error();
    for (const double load : {0.7, 0.9}) {
        // Fails here, not in the middle of the benchmark.
        if (const Result<Scenario> first = log->draw(1, load); !first) return first.error();
        OrderingWorld world;
        world.name = fmt::format("CTC-SP2 on 5 centers, load {}", load);
        world.most_seeds = log->draws();
        world.draw = [log = *log, load](std::uint64_t seed) {
            Scenario scenario = log.draw(seed, load).value();
            scenario.knowledge = exact_knowledge();
            return scenario;
        };
        worlds.push_back(std::move(world));
    }
    return {};
}

} // namespace

Result<std::vector<OrderingWorld>> ordering_worlds(const std::filesystem::path& folder)
{
    const Result<GavelJobTypes> types = read_gavel_types(folder);
    if (!types) return types.error();
    std::vector<OrderingWorld> worlds;
    add_gavel_worlds(*types, worlds);
    if (const Result<void> added = add_log_worlds(folder, worlds); !added) return added.error();
    return worlds;
}

} // namespace fathom::simulation
