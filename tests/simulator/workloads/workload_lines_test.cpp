#include "simulator/workloads/workload_lines.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <sstream>

namespace fathom::simulation {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Result<WorkloadInput> read(const std::string& text)
{
    std::istringstream stream(text);
    return read_job_lines(stream);
}

TEST(JobLines, AreReadAsTheVersionBeforeWroteThem)
{
    const WorkloadInput input = read(R"({"arrival_s": 0, "work_s": 60, "unit_count": 4, "most_units": 16})").value();

    ASSERT_EQ(input.workload.jobs.size(), 1U);
    EXPECT_EQ(input.workload.jobs[0].max_units, 16);
}

TEST(JobLines, SayWhatAJobIs)
{
    const WorkloadInput input = read(R"({"arrival_s": 0, "work_s": 60}
{"arrival_s": 5, "job_type": "fft", "work_s": 30, "unit_count": 4, "max_units": 16, "project": "materials", "user": "ann", "estimate_s": 99, "name": "first"}

{"arrival_s": 6, "work_s": 1, "deadline_in_s": 600, "budget": 2.5, "priority": -7, "prefer": "cheapest", "center": "beta", "unit_types": ["gpu"], "data_in_bytes": 1e9}
{"arrival_s": 7, "work_s": 1, "deadline_in_s": 600, "budget": 2.5, "priority": -7, "prefer": {"cost": 1}, "center": "beta", "unit_types": ["gpu"], "data_in_bytes": 1e9}
)")
                                    .value();

    const Workload& workload = input.workload;
    ASSERT_EQ(workload.jobs.size(), 4U);
    const Job& second = workload.jobs[1];
    EXPECT_EQ(second.arrival_s, 5);
    EXPECT_EQ(input.job_types[second.job_type].name, "fft");
    EXPECT_EQ(workload.projects[second.project], "materials");
    EXPECT_EQ(workload.users[second.user], "ann");
    EXPECT_EQ(second.unit_count, 4);
    EXPECT_EQ(second.max_units, 16);
    EXPECT_EQ(second.estimate_s, 99);
    EXPECT_EQ(workload.details[workload.jobs[0].details].priority, 0);
    EXPECT_EQ(workload.jobs[2].details, workload.jobs[3].details);
    const JobDetails& details = workload.details[workload.jobs[2].details];
    EXPECT_EQ(details.deadline_in_s, 600);
    EXPECT_EQ(details.budget, 2.5);
    EXPECT_EQ(details.priority, -7);
    EXPECT_EQ(details.prefer.cost, 1);
    EXPECT_EQ(input.centers.at(details.center.value()), "beta");
    EXPECT_EQ(input.unit_types.at(details.unit_types.at(0)), "gpu");
    EXPECT_THAT(input.lines, ElementsAre(1, 2, 4, 5));
    EXPECT_EQ(workload.end_counted, 4U);
    EXPECT_TRUE(input.skips.empty());
}

TEST(JobLines, AreLeftOutByTheNameOfTheirFault)
{
    std::string text;
    for (int i = 0; i < 8; ++i)
        text += "{\"arrival_s\": 1, \"work_s\": 1}\n";
    text += R"({"arrival_s": 1, "work_s": 1
{"arrival_s": 1}
{"arrival_s": -3, "work_s": 1}
{"arrival_s": 1, "work_s": 1, "colour": "red"}
{"arrival_s": 1, "work_s": 1, "prefer": "best"}
{"arrival_s": 2}
[1]
{"arrival_s": 0.5, "work_s": 2})";

    const WorkloadInput input = read(text).value();

    ASSERT_EQ(input.skips.size(), 7U);
    EXPECT_EQ(input.skips[0].rule, "not JSON");
    EXPECT_THAT(input.skips[0].lines, ElementsAre(9));
    EXPECT_EQ(input.skips[1].rule, "work_s is required");
    EXPECT_THAT(input.skips[1].lines, ElementsAre(10, 14));
    EXPECT_THAT(input.skips[2].rule, HasSubstr("arrival_s must be between"));
    EXPECT_EQ(input.skips[3].rule, "unknown field");
    EXPECT_THAT(input.skips[4].rule, HasSubstr("prefer must be"));
    EXPECT_THAT(input.skips[5].rule, HasSubstr("must be an object"));
    EXPECT_EQ(input.skips[6].rule, "arrival out of order (sorted)");
    ASSERT_EQ(input.workload.jobs.size(), 9U);
    EXPECT_EQ(input.workload.jobs[0].arrival_s, 0.5);
    EXPECT_EQ(input.lines[0], 16);
    EXPECT_EQ(input.lines[1], 1); // equal times stay in the order of the file
}

TEST(JobLines, OfAnotherFormatAreRefused)
{
    EXPECT_THAT(read("submit_s,run_s\n1,2\n").error().detail,
                testing::AllOf(HasSubstr("2 of 2 lines"), HasSubstr("line 1: not valid JSON")));
    EXPECT_THAT(read("\n\n").error().detail, HasSubstr("no job"));
}

TEST(JobLines, OfGarbageNeverBreakTheReader)
{
    std::mt19937_64 random(7);
    const std::string line = R"({"arrival_s": 1, "work_s": 1, "prefer": {"time": 1}, "unit_types": ["a"]})";
    for (int round = 0; round < 2000; ++round) {
        std::string text = line + "\n" + line + "\n" + line;
        for (int i = 0; i < 3; ++i)
            text[random() % text.size()] = static_cast<char>(random());
        if (const Result<WorkloadInput> input = read(text)) {
            EXPECT_EQ(input->workload.jobs.size(), input->lines.size());
        }
    }
}

} // namespace
} // namespace fathom::simulation
