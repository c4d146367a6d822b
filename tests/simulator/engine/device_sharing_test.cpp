#include "simulator/world/check_scenario.hpp"
#include "tests/simulator/engine/small_scenario.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace fathom::simulation {
namespace {

using testing::DoubleNear;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr std::uint32_t kA = 0;
constexpr std::uint32_t kB = 1;

/// Devices of two parts each, and jobs of two types: what a keeps beside b, and b beside a.
Scenario shared_devices(std::int64_t devices, double a_beside_b, double b_beside_a, std::vector<Job> jobs)
{
    Scenario scenario = single_type(2 * devices, std::move(jobs));
    scenario.network.job_types = {{"a", Scaling::kFixed}, {"b", Scaling::kFixed}};
    UnitType& unit_type = scenario.network.unit_types[0];
    unit_type.rates = {{1, {}}, {1, {}}};
    unit_type.units_per_device = 2;
    unit_type.kept_beside = {0.5, a_beside_b, b_beside_a, 0.5};
    return scenario;
}

SimulationResult simulated(const Scenario& scenario)
{
    return simulate(scenario, table_policy(std::vector<std::size_t>(scenario.workload.jobs.size())), 1).value();
}

std::vector<double> ends_of(const SimulationResult& result)
{
    std::vector<double> times;
    for (const JobOutcome& outcome : result.jobs)
        times.push_back(outcome.end_s);
    return times;
}

// a has done its 60 s at 100; b has then done 80 of its 100 s, and the rest alone.
TEST(DeviceSharing, JobsSlowEachOtherWhileBothAreThere)
{
    Scenario scenario =
        shared_devices(1, 0.6, 0.8, {make_job(0, 60, 1, kA), make_job(0, 100, 1, kB), make_job(200, 10, 1, kA)});
    PriceEntry entry;
    entry.per_unit_hour_micros = 3'600'000'000;
    scenario.network.unit_types[0].price = UnitPrice(entry);

    const SimulationResult result = simulated(scenario);

    EXPECT_THAT(ends_of(result), ElementsAre(DoubleNear(100, 1e-9), DoubleNear(120, 1e-9), DoubleNear(210, 1e-9)));
    EXPECT_NEAR(result.busy_unit_s[0], 120, 1e-9) << "of the device, to the last arrival";
    EXPECT_NEAR(result.jobs[0].cost, 50, 1e-3) << "half a device for 100 s, at 1 a second";
    EXPECT_EQ(result.starts, 3);
}

TEST(DeviceSharing, OneThatComesLaterSlowsOneThatRuns)
{
    const SimulationResult result = simulated(
        shared_devices(1, 0.6, 0.8, {make_job(0, 60, 1, kA), make_job(30, 8, 1, kB), make_job(100, 1, 1, kB)}));

    // b holds its part from 30 to 40; a does 6 s of work in that time.
    EXPECT_THAT(ends_of(result), ElementsAre(DoubleNear(64, 1e-9), DoubleNear(40, 1e-9), DoubleNear(101, 1e-9)));
}

TEST(DeviceSharing, JobsThatDoNotFitTogetherTakeTurns)
{
    const SimulationResult result =
        simulated(shared_devices(1, 0, 0, {make_job(0, 60, 1, kA), make_job(0, 60, 1, kB)}));

    EXPECT_THAT(ends_of(result), ElementsAre(DoubleNear(120, 1e-9), DoubleNear(120, 1e-9)));
}

TEST(DeviceSharing, APairThatWasSeenToHurtEachOtherIsPutApart)
{
    // The second one fills the device of the first: nothing is known of them yet. The third one knows better.
    const SimulationResult result = simulated(
        shared_devices(2, 0.4, 0.4, {make_job(0, 1000, 1, kA), make_job(1, 40, 1, kB), make_job(200, 50, 1, kB)}));

    EXPECT_THAT(ends_of(result), ElementsAre(DoubleNear(1060, 1e-9), DoubleNear(101, 1e-9), DoubleNear(250, 1e-9)));
}

TEST(DeviceSharing, OnlyJobsOfOneUnitHavePartsOfDevices)
{
    Scenario scenario = shared_devices(2, 0.4, 0.4, {make_job(0, 10, 2, kA)});
    EXPECT_THAT(check_scenario(scenario).error().detail, HasSubstr("several units"));

    scenario.workload.jobs[0].unit_count = 1;
    EXPECT_TRUE(check_scenario(scenario));
    scenario.network.unit_types[0].kept_beside.pop_back();
    EXPECT_THAT(check_scenario(scenario).error().detail, HasSubstr("cannot be shared"));
}

} // namespace
} // namespace fathom::simulation
