#include "simulator/workloads/gavel.hpp"
#include "simulator/workloads/read_formats.hpp"
#include "simulator/workloads/read_workload.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <sstream>

namespace fathom::simulation {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const std::filesystem::path kData = FATHOM_TEST_DATA;

std::vector<GavelJobType> gavel_job_types()
{
    std::ifstream file(kData / "gavel" / "solo.csv");
    return read_gavel_job_types(file).value();
}

std::size_t index_of(std::span<const GavelJobType> types, std::string_view name)
{
    const auto found = std::find_if(types.begin(), types.end(), [&](const auto& type) { return type.name == name; });
    return static_cast<std::size_t>(found - types.begin());
}

TEST(ReadCtcSp2, ExcerptOfTheCleanedLog)
{
    const WorkloadInput input = read_workload(kData / "swf" / "CTC-SP2-1996-3.1-cln.csv").value();

    EXPECT_EQ(input.format, "swf");
    EXPECT_GT(input.workload.jobs.size(), 2400u);
    EXPECT_DOUBLE_EQ(input.workload.jobs[0].work, 937);
    EXPECT_EQ(input.workload.jobs[0].unit_count, 306);
}

TEST(ReadGavel, HasTheTwentySixJobTypesOfThePaper)
{
    const std::vector types = gavel_job_types();

    ASSERT_EQ(types.size(), 26u);
    const std::size_t resnet = index_of(types, "ResNet-18 16");
    ASSERT_LT(resnet, types.size());
    EXPECT_DOUBLE_EQ(types[resnet].steps_per_s[0].at(1), 4.79529);
    EXPECT_DOUBLE_EQ(types[resnet].steps_per_s[2].at(1), 32.3534);
    EXPECT_DOUBLE_EQ(to_unit_types(types)[0].rates[resnet].rate, 4.79529 / 32.3534) << "of a V100";
    EXPECT_LT(index_of(types, "A3C"), types.size()) << "a type without a batch size";
}

// Mean minutes on a V100: 0.8 · (1000 − 10^1.5) / (1.5 ln 10) + 0.2 · (10 000 − 1000) / ln 10 = 1006.
TEST(ReadGavel, ArrivalsAndDurationsAreAsPublished)
{
    const WorkloadInput input = draw_gavel(gavel_job_types(), {.job_count = 32'000}).value();

    double minutes = 0;
    for (const Job& job : input.workload.jobs)
        minutes += job.work / 60 / 32'000;
    EXPECT_NEAR(minutes, 1006, 40);
    EXPECT_NEAR(input.workload.jobs.back().arrival_s / 3600, 32'000 / 5.6, 100);
}

TEST(ReadGavel, SeveralGpusOnlyWhereTheTypeCanUseThem)
{
    const std::vector types = gavel_job_types();
    const WorkloadInput input = draw_gavel(types, {.has_multiple_gpus = true}).value();

    std::map<int, int> counts;
    const std::size_t not_on_k80 = index_of(types, "ResNet-50 128"); // with more than one
    bool was_seen = false;
    for (const Job& job : input.workload.jobs) {
        ++counts[job.unit_count];
        EXPECT_TRUE(types[job.job_type].steps_per_s[kV100].contains(job.unit_count));
        const bool is_limited = job.job_type == not_on_k80 && job.unit_count > 1;
        was_seen = was_seen || is_limited;
        EXPECT_EQ(input.workload.details[job.details].unit_types.size(), is_limited ? 2u : 0u);
    }
    EXPECT_TRUE(was_seen);
    EXPECT_NEAR(counts[1] / 8000.0, 0.70, 0.02);
    EXPECT_NEAR(counts[2] / 8000.0, 0.10, 0.02);
    EXPECT_NEAR(counts[4] / 8000.0, 0.15, 0.02);
    EXPECT_NEAR(counts[8] / 8000.0, 0.05, 0.02);
}

TEST(ReadGavel, WhatCannotBeDrawnIsRefused)
{
    std::vector types = gavel_job_types();
    EXPECT_THAT(draw_gavel(types, {.jobs_per_hour = 1e-9}).error().detail, HasSubstr("a time over 100 years"));
    for (GavelJobType& type : types)
        type.steps_per_s[kV100].erase(8);
    EXPECT_THAT(draw_gavel(types, {.has_multiple_gpus = true}).error().detail,
                HasSubstr("no job type was measured on 8 v100"));
    EXPECT_TRUE(draw_gavel(types, {.job_count = 10}));
}

// On a V100, a job of n GPUs runs as long as was drawn: its work over the measured speed-up.
TEST(ReadGavel, WorkIsThatOfOneGpu)
{
    const std::vector types = gavel_job_types();
    const WorkloadInput input =
        draw_gavel(types, {.has_multiple_gpus = true, .durations = GavelDurations::kUniform}).value();

    for (const Job& job : input.workload.jobs) {
        const auto& rates = types[job.job_type].steps_per_s[kV100];
        const double minutes = job.work * rates.at(1) / rates.at(job.unit_count) / 60;
        EXPECT_GE(minutes, 10);
        EXPECT_LE(minutes, 1000);
    }
}

TEST(ReadGavel, TheTableIsAWorkloadAndAListOfJobsIsOne)
{
    const WorkloadInput drawn = read_workload(kData / "gavel" / "solo.csv", {.seed = 3, .job_count = 50}).value();
    EXPECT_EQ(drawn.format, "gavel");
    EXPECT_EQ(drawn.workload.jobs.size(), 50u);

    const WorkloadInput list = read_workload(kData / "gavel" / "physical_traces.csv", {.part = "small_test"}).value();
    EXPECT_EQ(list.format, "gavel-trace");
    EXPECT_EQ(list.workload.jobs.size(), 20u);
    EXPECT_THAT(list.skips, IsEmpty());
}

TEST(ReadPollux, WorkIsOfThePublishedClassOfGpuTime)
{
    const WorkloadInput input = read_workload(kData / "pollux" / "workloads.csv").value();

    EXPECT_EQ(input.format, "pollux");
    ASSERT_EQ(input.workload.jobs.size(), 320u) << "the two lists of the first set";
    EXPECT_THAT(input.skips, IsEmpty());
    for (const Job& job : input.workload.jobs) {
        const double gpu_hours = job.work * job.unit_count / 3600;
        const std::string& app = input.job_types[job.job_type].name;
        EXPECT_GE(gpu_hours, app == "imagenet" ? 100 : app == "yolov3" ? 10 : 0.0999);
        EXPECT_LE(gpu_hours, app == "cifar10" || app == "ncf" ? 1.001 : 1000);
    }
}

TEST(ReadPollux, OneListAloneAndOtherSeedsWorkOtherwise)
{
    const auto first_of = [](std::uint64_t seed) {
        return read_workload(kData / "pollux" / "workloads.csv",
                             {.seed = seed, .part = "pollux_workloads-realistic/workload-2"})
            .value();
    };
    EXPECT_EQ(first_of(1).workload.jobs.size(), 160u);
    EXPECT_EQ(first_of(1).workload.jobs[5].work, first_of(1).workload.jobs[5].work);
    EXPECT_NE(first_of(1).workload.jobs[5].work, first_of(2).workload.jobs[5].work);
    EXPECT_THAT(read_workload(kData / "pollux" / "workloads.csv", {.part = "none"}).error().detail,
                HasSubstr("no lines with jobs"));
}

TEST(ReadPhilly, VirtualClustersAreProjectsAndTheWeekIsKept)
{
    const WorkloadInput input = read_workload(kData / "philly" / "jobs_first_half.csv").value();

    EXPECT_EQ(input.format, "philly");
    EXPECT_GT(input.workload.jobs.size(), 1000u);
    EXPECT_DOUBLE_EQ(input.workload.jobs[0].arrival_s, 10 * 3600) << "hour 10 of weekday 0";
    EXPECT_EQ(input.workload.projects[input.workload.jobs[0].project], "7f04ca");
    EXPECT_EQ(input.workload.jobs[0].unit_count, 8);
}

TEST(ReadAlibaba, PodsTakeHundredthsOfGpus)
{
    // The seventh asks for more than the whole of a GPU, the eighth for nothing of it.
    std::istringstream pods("cpu_milli,num_gpu,gpu_milli,creation_s,scheduled_s,deletion_s\n"
                            "4000,1,470,0,0,10\n"
                            "4000,1,1000,1,1,10\n"
                            "4000,8,1000,2,2,10\n"
                            "4000,1,,3,3,10\n"
                            "4000,1,5,4,4,10\n"
                            "3500,0,0,5,5,10\n"
                            "4000,1,1200,6,6,10\n"
                            "4000,1,0,7,7,10\n");
    const WorkloadInput input = read_alibaba(pods, {}, {}).value();

    std::vector<std::int32_t> units;
    for (const Job& job : input.workload.jobs)
        units.push_back(job.unit_count);
    EXPECT_THAT(units, ElementsAre(47, 100, 800, 100, 1, 4));
    EXPECT_THAT(input.skips, testing::SizeIs(2));
}

TEST(ReadAlibaba, GpusOfNodesAreCutIntoTheSameParts)
{
    const std::filesystem::path path = std::filesystem::path(testing::TempDir()) / "fathom_alibaba_nodes.csv";
    {
        std::ofstream file(path);
        file << "cpu_milli,gpus,gpu_model\n64000,8,T4\n64000,2,T4\n32000,0,\n";
    }
    const Network network = read_alibaba_nodes(path).value();

    ASSERT_EQ(network.unit_types.size(), 2u);
    EXPECT_EQ(network.unit_types[0].name, "T4");
    EXPECT_EQ(network.unit_types[0].unit_count, 1000);
    EXPECT_EQ(network.unit_types[1].name, "cpu");
    EXPECT_EQ(network.unit_types[1].unit_count, 32);
    std::filesystem::remove(path);
}

TEST(ReadAlibaba, PodsRunOnTheModelsThatTheyAllow)
{
    const WorkloadInput input = read_workload(kData / "alibaba2023" / "pods.csv").value();
    const Network network = read_alibaba_nodes(kData / "alibaba2023" / "nodes.csv").value();

    EXPECT_EQ(input.format, "alibaba2023");
    EXPECT_GT(input.workload.jobs.size(), 500u);
    const auto limited = std::find_if(input.workload.jobs.begin(), input.workload.jobs.end(),
                                      [](const Job& job) { return job.details != 0; });
    ASSERT_NE(limited, input.workload.jobs.end());
    EXPECT_THAT(input.workload.projects, testing::Contains("LS"));
    std::vector<std::string> names;
    for (const UnitType& type : network.unit_types)
        names.push_back(type.name);
    for (const std::string& asked_for : input.unit_types)
        EXPECT_THAT(names, testing::Contains(asked_for));
    EXPECT_THAT(names, testing::Contains("cpu"));
    EXPECT_EQ(network.unit_types[0].rates.size(), 2u);
    EXPECT_THAT(input.job_types, testing::SizeIs(2));
    EXPECT_THAT(read_alibaba_nodes(kData / "gavel" / "solo.csv").error().detail, HasSubstr("cpu_milli"));
}

} // namespace
} // namespace fathom::simulation
