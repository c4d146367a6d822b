#include "cli/jobs/job_parts_text.hpp"

#include <gmock/gmock.h>

namespace fathom::cli {
namespace {

using testing::HasSubstr;

Json divided_job()
{
    return Json::parse(
        R"({"state": "running", "attempt": {"id": "att_2", "center": "beta", "unit_type": "gpu"}, "steps": {
        "split": "allowed", "part": 1,
        "items": [{"name": "sort"}, {"name": "pack"}, {"name": "solve"}],
        "division": {"run": "steps", "reason": "", "whole_on": "GPU", "cpu_s": 42, "gpu_s": 11, "total_s": 5, "passing_s": 2},
        "parts": [{"first_step": 0, "step_count": 2, "device": "cpu", "predicted_s": 4, "passing_s": 2,
                   "attempt_id": "att_1", "place": "alpha/core", "placed": {"run_s": 2, "low_s": 1.5, "high_s": 2.5},
                   "run_s": 2.1},
                  {"first_step": 2, "step_count": 1, "device": "gpu", "predicted_s": 1, "passing_s": 0,
                   "attempt_id": null, "place": null, "placed": {"run_s": 0.9, "low_s": 0.8, "high_s": 1},
                   "run_s": null}]}})");
}

TEST(JobPartsText, TellsWhatDividingGainsAndWhereEachPartIs)
{
    EXPECT_EQ(job_parts_text(divided_job(), {}),
              "\nIts steps run in parts: expected to take 5.00 s, of which 2.00 s to hand results on; whole on GPU it "
              "would take 11.0 s\n"
              "PART  STEPS       ON   AT          STATE      PLANNED  PREDICTED     RUN\n"
              "   1  sort, pack  CPU  alpha/core  succeeded   4.00 s     2.00 s  2.10 s\n"
              "   2  solve       GPU  beta/gpu    running     1.00 s     900 ms       -\n");
}

TEST(JobPartsText, APartThatWaitsIsNowhereYet)
{
    Json job = divided_job();
    job["attempt"]["id"] = "att_1";

    EXPECT_THAT(job_parts_text(job, {}), HasSubstr("solve       GPU  -"));
}

TEST(JobPartsText, OfPartsThatHaveNotBegunItSaysWhetherTheyAreToCome)
{
    Json job = divided_job();
    Json& parts = job["steps"]["parts"];
    job["steps"]["part"] = 0;
    for (Json& part : parts)
        part["attempt_id"] = part["place"] = part["placed"] = part["run_s"] = nullptr;

    EXPECT_THAT(job_parts_text(job, {}), HasSubstr("solve       GPU  -         to come"));
    job["state"] = "failed";
    EXPECT_THAT(job_parts_text(job, {}), HasSubstr("solve       GPU  -         not run"));
}

TEST(JobPartsText, SaysWhyTheJobRunsWhole)
{
    Json job = divided_job();
    Json& steps = job["steps"];
    steps["parts"] = Json::array();
    EXPECT_EQ(job_parts_text(job, {}), "\nIts steps run whole: no division into its steps is better\n");

    steps["division"]["reason"] = "no transfer was timed";
    EXPECT_EQ(job_parts_text(job, {}), "\nIts steps run whole: no transfer was timed\n");
    steps["division"] = nullptr;
    EXPECT_THAT(job_parts_text(job, {}), HasSubstr("decided when it is routed"));
    steps["split"] = "never";
    EXPECT_THAT(job_parts_text(job, {}), HasSubstr("its owner has not let divide it"));
    EXPECT_EQ(job_parts_text(Json::parse("{}"), {}), "");
}

} // namespace
} // namespace fathom::cli
