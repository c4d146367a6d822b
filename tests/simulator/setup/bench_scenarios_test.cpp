#include "simulator/figures/figures.hpp"
#include "simulator/figures/network_load.hpp"
#include "tests/bench/bench_scenarios.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

namespace fathom::simulation {
namespace {

using testing::HasSubstr;

const std::filesystem::path kData = FATHOM_TEST_DATA;

MachineSpeeds machine_speeds()
{
    std::ifstream devices(kData / "uob" / "devices_2019.csv");
    std::ifstream specifications(kData / "uob" / "device_spec_2019.csv");
    return read_machine_speeds(devices, specifications).value();
}

TEST(UnlikeCenters, SpeedsAreThoseMeasured)
{
    const MachineSpeeds speeds = machine_speeds();

    ASSERT_TRUE(speeds.contains("KNL"));
    EXPECT_DOUBLE_EQ(speeds.at("KNL")[kStream], 451'777);
    EXPECT_DOUBLE_EQ(speeds.at("KNL")[kCloverLeaf], 1 / 249.8);
    EXPECT_DOUBLE_EQ(speeds.at("KNL")[kDense], 2.66);
    const Network network = unlike_centers(speeds).value().network;
    EXPECT_EQ(network.unit_types.size(), 5u);
    EXPECT_DOUBLE_EQ(network.unit_types[0].rates[kTeaLeaf].rate, 1) << "the reference machine";
    EXPECT_DOUBLE_EQ(network.unit_types[1].rates[kStream].rate, 451'777.0 / 205'365);
    EXPECT_THAT(unlike_centers({}).error().detail, HasSubstr("Skylake was not measured"));
}

TEST(LogOnUnlikeCenters, KeepsItsJobsAndHasTheLoadThatIsAskedFor)
{
    const LogOnUnlikeCenters log = LogOnUnlikeCenters::read(kData).value();
    const Scenario at_half = log.draw(1, 0.4).value();
    const Scenario at_full = log.draw(1, 0.8).value();

    const auto length_s = [](const Workload& workload) {
        return workload.jobs.back().arrival_s - workload.jobs.front().arrival_s;
    };
    EXPECT_NEAR(length_s(at_half.workload) / length_s(at_full.workload), 2, 1e-9);
    EXPECT_EQ(at_half.workload.jobs[10].work, at_full.workload.jobs[10].work);
    EXPECT_NEAR(load_of(at_half), 0.4, 1e-6);
}

TEST(LogOnUnlikeCenters, FurtherSeedsBeginWithAnotherJob)
{
    const LogOnUnlikeCenters log = LogOnUnlikeCenters::read(kData).value();
    ASSERT_EQ(log.draws(), 5U) << "the excerpt is one part";
    const std::vector<Job> first = log.draw(1, 0.8).value().workload.jobs;
    const std::vector<Job> second = log.draw(2, 0.8).value().workload.jobs;

    const std::size_t begin = second.size() / 5;
    ASSERT_EQ(second.size(), first.size());
    EXPECT_EQ(second.front().work, first[begin].work);
    EXPECT_EQ(second.back().work, first[begin - 1].work);
    EXPECT_EQ(log.draw(6, 0.8).value().workload.jobs.front().work, first.front().work) << "all were drawn";
    for (std::size_t i = 1; i < second.size(); ++i)
        ASSERT_LE(second[i - 1].arrival_s, second[i].arrival_s) << i;
    const auto gap_s = [](const std::vector<Job>& jobs, std::size_t i) {
        return (jobs[i + 1].arrival_s - jobs[i].arrival_s) / (jobs.back().arrival_s - jobs.front().arrival_s);
    };
    EXPECT_NEAR(gap_s(second, second.size() - begin - 1), gap_s(first, begin - 1),
                0.01 * gap_s(first, begin - 1) + 1e-6);
}

TEST(GpuNetwork, JobTypesMayBeKnownByWhatTheyResemble)
{
    const GavelJobTypes types = read_gavel_types(kData).value();
    const Network network = gpu_network_like(*types, {1, 2, 3}, {{"bert", "Transformer 64"}}).value().network;

    ASSERT_EQ(network.unit_types.size(), 3u);
    EXPECT_EQ(network.job_types[0].name, "bert");
    EXPECT_DOUBLE_EQ(network.unit_types[1].rates[0].rate, 1) << "times are those on P100s";
    EXPECT_LT(network.unit_types[0].rates[0].rate, 0.5);
    EXPECT_EQ(network.unit_types[2].unit_count, 3);
    EXPECT_GT(network.unit_types[2].benchmark, network.unit_types[0].benchmark);
    EXPECT_EQ(gpu_network_like(*types, {1, 2, 3}, {{"bert", "none"}}).error().code, Errc::kNotFound);
}

} // namespace
} // namespace fathom::simulation
