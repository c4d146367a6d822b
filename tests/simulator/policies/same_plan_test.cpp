#include "simulator/setup/join_scenario.hpp"
#include "simulator/workloads/workload_lines.hpp"
#include "simulator/world/draw.hpp"
#include "tests/simulator/engine/small_scenario.hpp"
#include "tests/simulator/policies/compared_policy.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <utility>

// The simulator and the server decide alike: at each moment of simulations of random networks, and of one that was
// exported from a running server with the jobs that ran there, what the server's schedule() makes of the same jobs,
// units, loads and uses is what the simulated policy starts. Only schedule() plans what waits, too, and may find that a
// job does best to start "before its turn" when those that go first have theirs.
namespace fathom::simulation {
namespace {

constexpr std::int32_t kMaxUnits = 12;

std::size_t whole(Draw& draw, std::size_t least, std::size_t most)
{
    return least + draw.index(most - least + 1);
}

/// Speed-ups as a fitted curve gives them.
std::shared_ptr<const OperatorSpeedup> random_speedup(Draw& draw, const std::string& operator_id)
{
    const double serial = draw.uniform(0.02, 0.4);
    std::vector<ScalingPoint> points;
    for (const double count : {1.0, 2.0, 4.0, 8.0})
        points.push_back({.unit_count = count, .rate = 1 / (serial + (1 - serial) / count)});
    return std::make_shared<const OperatorSpeedup>(operator_id, "n=1", 1e6,
                                                   fit_scaling(points, ScalingMode::kStrong).value());
}

UnitPrice random_price(Draw& draw)
{
    PriceEntry price;
    price.per_unit_hour_micros = static_cast<std::int64_t>(draw.uniform(0, 2e6));
    if (draw.uniform() < 0.3) price.bands = {{{}, 0, static_cast<int>(whole(draw, 1, 24)), 1000}};
    price.unit_power_w = draw.uniform(50, 300);
    return UnitPrice(price);
}

JobDetails random_details(Draw& draw)
{
    JobDetails details;
    details.priority = static_cast<std::int32_t>(whole(draw, 0, 200)) - 100;
    if (draw.uniform() < 0.3) details.deadline_in_s = draw.uniform(2'000, 40'000);
    if (draw.uniform() < 0.2) details.budget = draw.uniform(0.05, 2);
    if (draw.uniform() < 0.3) details.data_in_bytes = draw.uniform(0, 1e10);
    if (draw.uniform() < 0.3) details.prefer = {0.4, 0.4, 0.2};
    return details;
}

void add_network(Draw& draw, ComparedWorld& world)
{
    Network& network = world.scenario.network;
    network.job_types = {{"fixed", Scaling::kFixed}, {"divided", Scaling::kTable}, {"other", Scaling::kFixed}};
    const std::size_t centers = whole(draw, 1, 3);
    for (std::size_t i = 0; i < centers; ++i) {
        Center center = make_center(fmt::format("center_{}", i));
        if (draw.uniform() < 0.5) center.network_rate_bytes.fill(draw.uniform(1e7, 1e9));
        network.centers.push_back(center);
    }
    const std::size_t types = whole(draw, 1, 4);
    for (std::size_t type = 0; type < types; ++type) {
        UnitType one = make_unit_type(fmt::format("unit_{}", type), draw.index(centers),
                                      static_cast<std::int64_t>(whole(draw, 1, 9)), {});
        for (std::size_t i = 0; i < 3; ++i)
            one.rates.push_back({draw.uniform() < 0.2 ? 0 : draw.uniform(0.2, 5), {}});
        const auto speedup = random_speedup(draw, compared_operator(1));
        for (std::int64_t count = 1; count <= kMaxUnits; ++count)
            one.rates[1].speedups.push_back({count, speedup->at(count).factor});
        world.speedups.push_back(std::make_shared<const UnitSpeedups>(UnitSpeedups{speedup}));
        one.price = random_price(draw);
        network.unit_types.push_back(one);
    }
}

void add_workload(Draw& draw, Workload& workload)
{
    workload.projects.clear();
    const std::size_t projects = whole(draw, 1, 3);
    for (std::size_t i = 0; i < projects; ++i)
        workload.projects.push_back(fmt::format("project_{}", i));
    for (std::size_t i = 0; i < 5; ++i)
        workload.details.push_back(random_details(draw));
    const double gap_s = draw.uniform() < 0.5 ? 150 : 600;
    double now_s = 0;
    for (std::size_t i = 0; i < 60; ++i) {
        if (draw.uniform() < 0.8) now_s += draw.exponential(gap_s);
        Job job = make_job(now_s, 1 + draw.exponential(1500), static_cast<std::int32_t>(whole(draw, 1, 4)),
                           static_cast<std::uint32_t>(draw.index(3)));
        job.project = static_cast<std::uint32_t>(draw.index(projects));
        if (draw.uniform() < 0.4) job.details = static_cast<std::uint32_t>(draw.index(workload.details.size()));
        if (job.job_type == 1 && draw.uniform() < 0.6)
            job.max_units = static_cast<std::int32_t>(whole(draw, 1, kMaxUnits));
        workload.jobs.push_back(job);
    }
    workload.end_counted = workload.jobs.size();
}

ComparedWorld random_world(std::uint64_t seed)
{
    Draw draw(seed);
    ComparedWorld world;
    add_network(draw, world);
    add_workload(draw, world.scenario.workload);
    world.scenario.knowledge = certainty();
    return world;
}

/// What `fathom simulate export` wrote of a network and of the jobs that ran in it.
Result<ComparedWorld> exported_world(const std::filesystem::path& folder)
{
    std::ifstream file(folder / "centers.json");
    const Result<CentersFile> centers = read_centers(std::string{std::istreambuf_iterator<char>(file), {}});
    if (!centers) return centers.error();
    std::ifstream lines(folder / "jobs.jsonl");
    Result<WorkloadInput> input = read_job_lines(lines);
    if (!input) return input.error();
    Result<JoinedScenario> joined = join_scenario(*centers, std::move(*input));
    if (!joined) return joined.error();
    ComparedWorld world;
    world.scenario = std::move(joined->scenario);
    world.scenario.knowledge = certainty();
    world.speedups.resize(world.scenario.network.unit_types.size());
    for (const JobType& type : world.scenario.network.job_types) {
        if (type.scaling != Scaling::kFixed) return Error{Errc::kInvalid, "jobs of " + type.name + " are divided"};
    }
    for (const JobDetails& details : world.scenario.workload.details) {
        if (details.center || !details.unit_types.empty())
            return Error{Errc::kInvalid, "some jobs ask for a place, which this test does not tell schedule()"};
    }
    return world;
}

Result<SimulationResult> simulate_compared(const ComparedWorld& world, std::uint64_t seed, ComparedStarts& count)
{
    const PolicyMaker maker = [&](const Scenario&, Knowledge& knowledge, std::uint64_t) {
        return std::make_unique<ComparedPolicy>(world, knowledge, count);
    };
    return simulate(world.scenario, maker, seed);
}

TEST(SamePlan, SimulatorAndServerStartTheSameJobsAtTheSamePlaces)
{
    ComparedStarts count;
    std::size_t before_turn = 0;
    for (std::uint64_t seed = 1; seed <= 60; ++seed) {
        SCOPED_TRACE(fmt::format("seed {}", seed));
        const ComparedWorld world = random_world(seed);
        const Result<SimulationResult> result = simulate_compared(world, seed, count);
        ASSERT_TRUE(result) << describe(result.error());
        before_turn += std::exchange(count.before_turn, {}).size();
    }
    EXPECT_GT(count.decisions, 3000);
    EXPECT_GT(count.starts, 2000);
    EXPECT_LT(static_cast<std::int64_t>(before_turn), count.starts / 500);
}

/// Of a run that was kept, or of one that has just been (tests/e2e/test_simulate.py).
TEST(SamePlan, AlsoOfWhatRanInARealNetwork)
{
    const char* const named = std::getenv("FATHOM_RUN_FOLDER"); // NOLINT(concurrency-mt-unsafe)
    const std::filesystem::path folder =
        named != nullptr ? std::filesystem::path(named) : std::filesystem::path(FATHOM_TEST_DATA) / "run";
    const Result<ComparedWorld> world = exported_world(folder);
    ASSERT_TRUE(world) << describe(world.error());
    ComparedStarts count;

    const Result<SimulationResult> result = simulate_compared(*world, 1, count);

    ASSERT_TRUE(result) << describe(result.error());
    EXPECT_EQ(count.starts, std::ssize(world->scenario.workload.jobs));
    EXPECT_LE(std::ssize(count.before_turn), 1 + count.starts / 50);
}

} // namespace
} // namespace fathom::simulation
