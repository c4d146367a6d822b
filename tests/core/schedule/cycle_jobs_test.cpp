#include "core/schedule/cycle_jobs.hpp"

#include <gtest/gtest.h>

namespace fathom {
namespace {

/// Three jobs with options at that many unit types.
CycleJobs three_jobs(std::size_t places)
{
    std::vector<JobOption> options;
    for (std::size_t i = 0; i < places; ++i)
        options.push_back({.unit_type = i, .run_s = 10});
    CycleJobs jobs(3);
    for (WaitingJobView& view : jobs.views)
        view.options = options;
    return jobs;
}

TEST(CycleJobs, WhatIsDoneIsAskedForNoMoreAndWhatIsRefusedIsPlanned)
{
    CycleJobs jobs = three_jobs(1);
    jobs.is_done[0] = true;
    jobs.is_refused[1] = true;

    EXPECT_EQ(jobs_to_start(jobs).jobs, (std::vector<std::size_t>{2}));
    EXPECT_EQ(jobs_to_plan(jobs).jobs, (std::vector<std::size_t>{1, 2}));
}

TEST(CycleJobs, AnOptionThatIsLostIsLeftOutWhereTheJobMayStartOnly)
{
    CycleJobs jobs = three_jobs(2);

    lose_option(jobs, 1, {.unit_type = 0, .run_s = 10});

    const OrderCall start = jobs_to_start(jobs);
    EXPECT_EQ(start.views[0].options.size(), 2U);
    ASSERT_EQ(start.views[1].options.size(), 1U);
    EXPECT_EQ(start.views[1].options[0].unit_type, 1U);
    EXPECT_EQ(jobs_to_plan(jobs).views[1].options.size(), 2U);
}

TEST(CycleJobs, AJobWithoutOptionsOrThatLostManyIsRefused)
{
    CycleJobs few = three_jobs(1);
    lose_option(few, 0, {.unit_type = 0});
    EXPECT_EQ(few.is_refused, (std::vector<bool>{true, false, false}));

    CycleJobs many = three_jobs(9);
    for (std::size_t place = 0; place < 3; ++place)
        lose_option(many, 2, {.unit_type = place});
    EXPECT_FALSE(many.is_refused[2]);
    lose_option(many, 2, {.unit_type = 3});
    EXPECT_TRUE(many.is_refused[2]);
}

} // namespace
} // namespace fathom
