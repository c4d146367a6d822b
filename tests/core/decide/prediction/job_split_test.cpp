#include "core/decide/prediction/job_split.hpp"

#include <gmock/gmock.h>

namespace fathom {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

/// A filter, 2 s on a CPU and 10 s on a GPU, and a join, 40 s and 1 s, with 1 GB/s to the data site.
DeviceChoice filter_and_join()
{
    DeviceChoice choice;
    choice.center = "alpha";
    choice.cpu_unit_type = "core";
    choice.gpu_unit_type = "gpu";
    choice.terms = {.unit_count = 1, .network_gb = 1, .threshold = 1, .data_site_gb = 1};
    OperatorDevice filter;
    filter.operator_id = "filter";
    filter.cpu_s = 2;
    filter.gpu_s = 10;
    OperatorDevice join;
    join.demand = 1;
    join.operator_id = "join";
    join.cpu_s = 40;
    join.gpu_s = 1;
    choice.operators = {filter, join};
    return choice;
}

std::vector<JobStep> steps_that_hand_on(double bytes)
{
    return {{"select", 1, bytes}, {"combine", 1, 5e12}};
}

TEST(SplitJob, GoldenStepsWithTheWayToTheDataSiteAndBack)
{
    // 1 GB out and in at 1 GB/s: 2 + 2 + 1 s, against 42 s on CPUs and 11 s on GPUs.
    const std::vector<JobStep> steps = steps_that_hand_on(1e9);

    const Json json = to_json(split_job(steps, filter_and_join()), steps);

    EXPECT_EQ(json["run"], "steps");
    EXPECT_EQ(json["whole_on"], "GPU");
    EXPECT_DOUBLE_EQ(json["cpu_s"].get<double>(), 42);
    EXPECT_DOUBLE_EQ(json["gpu_s"].get<double>(), 11);
    EXPECT_DOUBLE_EQ(json["total_s"].get<double>(), 5);
    EXPECT_DOUBLE_EQ(json["passing_s"].get<double>(), 2);
    ASSERT_EQ(json["steps"].size(), 2U);
    EXPECT_EQ(json["steps"][0]["name"], "select");
    EXPECT_EQ(json["steps"][0]["run_on"], "CPU");
    EXPECT_DOUBLE_EQ(json["steps"][0]["passing_s"].get<double>(), 2);
    EXPECT_EQ(json["steps"][1]["run_on"], "GPU");
    EXPECT_DOUBLE_EQ(json["steps"][1]["passing_s"].get<double>(), 0) << "the last result is the job's own";
}

TEST(SplitJob, GoldenALargeResultKeepsTheJobWhole)
{
    // 4.1 GB out and in: 8.2 s, more than the 8 s that the filter gains.
    const std::vector<JobStep> steps = steps_that_hand_on(4.1e9);

    const Json json = to_json(split_job(steps, filter_and_join()), steps);

    EXPECT_EQ(json["run"], "whole");
    EXPECT_EQ(json["whole_on"], "GPU");
    EXPECT_DOUBLE_EQ(json["total_s"].get<double>(), 11);
    EXPECT_EQ(json["steps"][0]["run_on"], "GPU");
}

TEST(SplitJob, WhatIsHandedOnGoesByTheDataSiteHoweverFastTheHostsOfTheCenterAreJoined)
{
    DeviceChoice choice = filter_and_join();
    choice.terms.network_gb = 100;
    choice.terms.is_between_hosts = true;
    const std::vector<JobStep> steps = steps_that_hand_on(1e9);

    EXPECT_DOUBLE_EQ(split_job(steps, choice).answer.value().passing_s, 2);
    choice.terms.data_site_gb = 0;
    EXPECT_FALSE(split_job(steps, choice).answer);
}

TEST(SplitJob, TheCostOfTheWholeOnEachDecidesWithoutANetworkThatIsKnown)
{
    DeviceChoice choice = filter_and_join();
    choice.terms.network_gb = choice.terms.data_site_gb = 0;
    const std::vector<JobStep> handing = steps_that_hand_on(1);
    const std::vector<JobStep> handing_nothing = steps_that_hand_on(0);

    const Json json = to_json(split_job(handing, choice), handing);

    EXPECT_TRUE(json["run"].is_null());
    EXPECT_THAT(json["reason"].get<std::string>(), HasSubstr("how fast step select hands its result on is not known"));
    EXPECT_TRUE(json["steps"].empty());
    EXPECT_EQ(to_json(split_job(handing_nothing, choice), handing_nothing)["run"], "steps");
}

TEST(SplitJob, AnOperatorThatIsNotPredictedOnBothLeavesNoAnswer)
{
    DeviceChoice choice = filter_and_join();
    choice.operators.erase(choice.operators.begin());
    const std::vector<JobStep> steps = steps_that_hand_on(1e9);

    const JobSplit split = split_job(steps, choice);

    EXPECT_FALSE(split.answer);
    EXPECT_EQ(split.reason, "not all operators of step select are predicted on both kinds of unit");
}

TEST(JobSteps, HoldTheJobsOperatorsInOrder)
{
    const Json json = Json::parse(R"([{"name": "a", "operators": [{"id": "sort"}, {"id": "spmv"}], "out_bytes": 5},
                                      {"name": "b", "operators": [{"id": "dgemm"}]}])");
    Json operators;
    std::vector<FieldError> errors;

    const std::vector<JobStep> steps = parse_job_steps(json, "steps", operators, errors);

    EXPECT_TRUE(errors.empty());
    ASSERT_EQ(steps.size(), 2U);
    EXPECT_EQ(steps[0].operator_count, 2U);
    EXPECT_DOUBLE_EQ(steps[0].out_bytes, 5);
    EXPECT_EQ(operators, Json::parse(R"([{"id": "sort"}, {"id": "spmv"}, {"id": "dgemm"}])"));
}

TEST(JobSteps, AllThatIsWrongIsSaidAtOnce)
{
    const auto fields_of = [](const char* text) {
        Json operators;
        std::vector<FieldError> errors;
        parse_job_steps(Json::parse(text), "steps", operators, errors);
        std::vector<std::string> fields;
        for (const FieldError& error : errors)
            fields.push_back(error.field);
        return fields;
    };

    EXPECT_THAT(fields_of(R"([{"name": "a", "operators": []}, 3])"),
                testing::IsSupersetOf({"steps[0].operators", "steps[0].out_bytes", "steps[1]"}));
    EXPECT_THAT(fields_of(R"([{"name": "a", "operators": [{"id": "sort"}]}])"), ElementsAre("steps"));
    EXPECT_THAT(fields_of("{}"), ElementsAre("steps"));
}

TEST(SplitJob, StepsOneAfterTheOtherOnTheSameKindAreOnePart)
{
    DeviceChoice choice = filter_and_join();
    OperatorDevice again = choice.operators[1];
    again.demand = 2;
    choice.operators.push_back(again);
    const std::vector<JobStep> steps{{"select", 1, 1e9}, {"combine", 1, 1e9}, {"combine again", 1, 0}};

    const std::vector<JobPart> parts = parts_of(split_job(steps, choice));

    ASSERT_EQ(parts.size(), 2U);
    EXPECT_EQ(parts[0].steps, (StepRange{0, 1, "cpu"}));
    EXPECT_DOUBLE_EQ(parts[0].predicted_s, 2 + 2) << "with the way to the data site and back";
    EXPECT_DOUBLE_EQ(parts[0].passing_s, 2);
    EXPECT_DOUBLE_EQ(parts[1].passing_s, 0);
    EXPECT_EQ(parts[1].steps, (StepRange{1, 2, "gpu"}));
    EXPECT_DOUBLE_EQ(parts[1].predicted_s, 1 + 1);
    EXPECT_TRUE(parts_of(split_job(steps_that_hand_on(4.1e9), filter_and_join())).empty()) << "it runs whole";
}

TEST(SplitJob, OfSeveralCentersTheLeastTotalCounts)
{
    DeviceChoice unknown = filter_and_join();
    unknown.terms.network_gb = unknown.terms.data_site_gb = 0;
    DeviceChoice slow = filter_and_join();
    slow.terms.data_site_gb = 0.5;
    const std::vector<JobStep> steps = steps_that_hand_on(1e9);
    const std::vector<JobSplit> splits{split_job(steps, unknown), split_job(steps, slow),
                                       split_job(steps, filter_and_join())};

    EXPECT_EQ(best_split(splits), &splits[2]);
    EXPECT_EQ(best_split(std::span(splits).first(1)), nullptr) << "no guess";
}

} // namespace
} // namespace fathom
