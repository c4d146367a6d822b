#include "simulator/world/draw.hpp"
#include "tests/simulator/engine/small_scenario.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

// Small scenarios of every kind, simulated with every policy, and what came out looked at without the simulator's own
// books.
namespace fathom::simulation {
namespace {

std::size_t whole(Draw& draw, std::size_t least, std::size_t most)
{
    return least + draw.index(most - least + 1);
}

Center random_center(Draw& draw)
{
    Center center = make_center("center", draw.uniform() < 0.5 ? 0 : draw.uniform(0, 60));
    for (double at_s = draw.uniform(0, 5000); at_s < 20'000 && draw.uniform() < 0.5; at_s += 8000)
        center.closures.push_back({at_s, at_s + draw.uniform(1, 7000)});
    if (draw.uniform() < 0.5) {
        for (double& rate : center.network_rate_bytes)
            rate = draw.uniform() < 0.3 ? 0 : draw.uniform(1e6, 1e8);
    }
    return center;
}

UnitType random_unit_type(Draw& draw, std::size_t centers)
{
    UnitType one = make_unit_type("unit", draw.index(centers), static_cast<std::int64_t>(whole(draw, 0, 9)), {});
    for (std::size_t i = 0; i < 3; ++i)
        one.rates.push_back({draw.uniform() < 0.2 ? 0 : draw.uniform(0.2, 5), {}});
    if (draw.uniform() < 0.5) one.rates[2].speedups = {{2, 1.7}, {6, 4}, {9, 3}};
    if (draw.uniform() < 0.5) one.failures = {draw.uniform(1e4, 1e6), draw.uniform(1, 5000)};
    if (draw.uniform() < 0.5) one.peak_flops = draw.uniform(1e9, 1e12);
    PriceEntry price;
    price.per_unit_hour_micros = static_cast<std::int64_t>(draw.uniform(0, 2e6));
    price.bands = {{{}, 0, static_cast<int>(whole(draw, 1, 24)), 1000}};
    price.unit_power_w = draw.uniform() < 0.5 ? 0 : 200;
    one.price = UnitPrice(price);
    return one;
}

Network random_network(Draw& draw)
{
    Network network;
    for (const Scaling scaling : {Scaling::kFixed, Scaling::kLinear, Scaling::kTable})
        network.job_types.push_back({"type", scaling});
    const std::size_t centers = whole(draw, 1, 3);
    for (std::size_t i = 0; i < centers; ++i)
        network.centers.push_back(random_center(draw));
    const std::size_t types = whole(draw, 1, 5);
    for (std::size_t type = 0; type < types; ++type)
        network.unit_types.push_back(random_unit_type(draw, centers));
    return network;
}

JobDetails random_details(Draw& draw, const Network& network)
{
    JobDetails details;
    details.priority = static_cast<std::int32_t>(whole(draw, 0, 200)) - 100;
    if (draw.uniform() < 0.2) details.deadline_in_s = draw.uniform(0, 20'000);
    if (draw.uniform() < 0.2) details.budget = draw.uniform(0, 2);
    if (draw.uniform() < 0.3) details.data_in_bytes = draw.uniform(0, 1e10);
    if (draw.uniform() < 0.3) details.data_out_bytes = draw.uniform(0, 1e10);
    if (draw.uniform() < 0.3) details.prefer = {0.4, 0.4, 0.2};
    if (draw.uniform() < 0.2) details.center = static_cast<std::uint32_t>(draw.index(network.centers.size()));
    if (draw.uniform() < 0.2) details.unit_types = {static_cast<std::uint32_t>(draw.index(network.unit_types.size()))};
    return details;
}

Scenario random_scenario(std::uint64_t seed)
{
    Draw draw(seed);
    Scenario scenario;
    scenario.network = random_network(draw);
    Workload& workload = scenario.workload;
    workload.projects.resize(whole(draw, 1, 3));
    workload.users.resize(whole(draw, 1, 3));
    for (std::size_t i = 0; i < 4; ++i)
        workload.details.push_back(random_details(draw, scenario.network));
    double now_s = 0;
    for (std::size_t i = 0; i < 120; ++i) {
        if (draw.uniform() < 0.8) now_s += draw.exponential(150);
        Job job = make_job(now_s, draw.exponential(1000), static_cast<std::int32_t>(whole(draw, 1, 4)),
                           static_cast<std::uint32_t>(draw.index(3)));
        job.project = static_cast<std::uint32_t>(draw.index(workload.projects.size()));
        job.user = static_cast<std::uint32_t>(draw.index(workload.users.size()));
        if (draw.uniform() < 0.5) job.details = static_cast<std::uint32_t>(draw.index(workload.details.size()));
        if (draw.uniform() < 0.3) job.max_units = static_cast<std::int32_t>(whole(draw, 1, 12));
        if (draw.uniform() < 0.5) job.estimate_s = job.work * draw.uniform(0.5, 5);
        workload.jobs.push_back(job);
    }
    workload.end_counted = workload.jobs.size();
    scenario.knowledge.drift_per_day = draw.uniform() < 0.5 ? 0 : 0.3;
    scenario.knowledge.report_every_s = draw.uniform() < 0.5 ? 0 : 30;
    scenario.knowledge.measure_every_s = draw.uniform() < 0.5 ? 0 : 5000;
    return scenario;
}

void expect_no_unit_used_twice(const Scenario& scenario, const SimulationResult& result, const std::string& where)
{
    std::vector<std::map<double, std::int64_t>> changes(scenario.network.unit_types.size());
    for (const JobOutcome& outcome : result.jobs) {
        if (outcome.state != JobState::kEnded) continue;
        changes[outcome.unit_type][outcome.start_s] += outcome.unit_count;
        changes[outcome.unit_type][outcome.end_s] -= outcome.unit_count;
    }
    for (std::size_t type = 0; type < changes.size(); ++type) {
        std::int64_t busy = 0;
        for (const auto& [at_s, change] : changes[type]) {
            busy += change;
            EXPECT_LE(busy, scenario.network.unit_types[type].unit_count) << where << ", at " << at_s;
        }
    }
}

void expect_valid_end(const Scenario& scenario, std::size_t job, const JobOutcome& outcome, const std::string& where)
{
    const Job& asked = scenario.workload.jobs[job];
    const UnitType& type = scenario.network.unit_types[outcome.unit_type];
    EXPECT_GE(outcome.start_s, asked.arrival_s) << where;
    EXPECT_GT(outcome.end_s, outcome.start_s) << where;
    EXPECT_TRUE(fits(scenario, asked, outcome.unit_type)) << where;
    EXPECT_GE(outcome.unit_count, asked.unit_count) << where;
    EXPECT_LE(outcome.unit_count, std::max(asked.unit_count, asked.max_units)) << where;
    EXPECT_GE(outcome.cost, 0) << where;
    for (const Closure& closure : scenario.network.centers[type.center].closures)
        EXPECT_FALSE(closure.from_s <= outcome.start_s && outcome.start_s < closure.to_s) << where;
    const double held_unit_s = (outcome.end_s - outcome.start_s) * static_cast<double>(outcome.unit_count);
    EXPECT_GE(outcome.demand_unit_s * (1 + 1e-9),
              (outcome.end_s - outcome.start_s) * static_cast<double>(asked.unit_count))
        << where;
    if (outcome.attempts == 1) {
        EXPECT_DOUBLE_EQ(outcome.energy_j, held_unit_s * type.price.unit_power_w()) << where;
    }
}

void expect_sound(const Scenario& scenario, const SimulationResult& result, const std::string& where)
{
    std::int64_t attempts = 0;
    for (std::size_t job = 0; job < result.jobs.size(); ++job) {
        const JobOutcome& outcome = result.jobs[job];
        const std::string which = where + ", job " + std::to_string(job);
        attempts += outcome.attempts;
        EXPECT_NE(outcome.state, JobState::kUnfinished) << which;
        if (outcome.state == JobState::kEnded) {
            expect_valid_end(scenario, job, outcome, which);
            continue;
        }
        const JobDetails& details = scenario.workload.details[scenario.workload.jobs[job].details];
        bool fits_somewhere = false;
        for (std::size_t type = 0; type < scenario.network.unit_types.size(); ++type)
            fits_somewhere = fits_somewhere || fits(scenario, scenario.workload.jobs[job], type);
        EXPECT_TRUE(!fits_somewhere || details.deadline_in_s || details.budget) << which << " was given up";
    }
    EXPECT_EQ(attempts, result.starts) << where;
    EXPECT_FALSE(result.was_stopped) << where;
    expect_no_unit_used_twice(scenario, result, where);
}

TEST(RandomScenarios, AreSimulatedSoundlyByEveryPolicy)
{
    for (std::uint64_t seed = 1; seed <= 60; ++seed) {
        const Scenario scenario = random_scenario(seed);
        for (const PolicyName& policy : policy_names()) {
            const std::string where = std::string(policy.name) + ", scenario " + std::to_string(seed);
            const Result<SimulationResult> result = simulate(scenario, policy.name, seed);
            ASSERT_TRUE(result) << where << ": " << result.error().detail;
            expect_sound(scenario, *result, where);
        }
    }
}

// Seven hours cost 1.3 at least, six of them by night and one by day; bounds of prices are below that.
TEST(RandomScenarios, JobsWhoseBudgetNoHourMeetsAreGivenUp)
{
    Scenario scenario = single_type(1, {make_job(0, 7 * 3600), make_job(10, 100)});
    PriceEntry price;
    price.per_unit_hour_micros = 1'000'000;
    price.bands = {{{}, 0, 6, 50'000}};
    scenario.network.unit_types[0].price = UnitPrice(price);
    JobDetails poor;
    poor.budget = 1.0;
    scenario.workload.details.push_back(poor);
    scenario.workload.jobs[0].details = 1;

    const SimulationResult result = simulate(scenario, "fathom", 1).value();

    EXPECT_EQ(result.jobs[0].state, JobState::kImpossible);
    EXPECT_EQ(result.jobs[1].state, JobState::kEnded);

    scenario.workload.details[1].budget = 1.35;
    EXPECT_EQ(simulate(scenario, "fathom", 1)->jobs[0].state, JobState::kEnded);
}

} // namespace
} // namespace fathom::simulation
