#include "core/schedule/job_options.hpp"

#include <gtest/gtest.h>

namespace fathom {
namespace {

const Preference kTime{1, 0, 0};
const Preference kMoney{0.5, 0.5, 0};

TEST(JobOptions, AreAllCountsOfAllPlacesOfAJobThatWantsToEndEarly)
{
    const std::vector<CountOffer> here{{.unit_count = 1, .run_s = 100, .beyond_s = 0, .objective = 100},
                                       {.unit_count = 2, .run_s = 60, .beyond_s = 0, .objective = 60}};
    const std::vector<CountOffer> there{{.unit_count = 1, .run_s = 40, .beyond_s = 40, .objective = 80}};

    const std::vector<JobOption> options = options_of(kTime, std::vector<PlaceOffers>{{0, here}, {3, there}});

    const std::vector<JobOption> expected{{0, 1, 100, 1}, {0, 2, 60, 1}, {3, 1, 40, 2}};
    EXPECT_EQ(options, expected);
    EXPECT_EQ(option_alone(options), expected[1]) << "half believed, 40 s count as 80";
    EXPECT_EQ(shortest_run_s(options), 40);
}

TEST(JobOptions, OfAJobThatCaresForMoneyAreThoseAsGoodAsItsBest)
{
    const std::vector<CountOffer> cheap{{.unit_count = 1, .run_s = 100, .beyond_s = 0, .objective = 10},
                                        {.unit_count = 2, .run_s = 60, .beyond_s = 0, .objective = 10.05}};
    const std::vector<CountOffer> dear{{.unit_count = 1, .run_s = 40, .beyond_s = 0, .objective = 10.2}};

    const std::vector<JobOption> options = options_of(kMoney, std::vector<PlaceOffers>{{0, dear}, {1, cheap}});

    EXPECT_EQ(options, (std::vector<JobOption>{{1, 1, 100, 1}, {1, 2, 60, 1}}));
}

TEST(JobOptions, AnUnknownRunTimeStaysUnknown)
{
    const std::vector<CountOffer> unknown{{.unit_count = 1, .run_s = 0, .beyond_s = 0, .objective = 1}};
    EXPECT_EQ(options_of(kTime, std::vector<PlaceOffers>{{2, unknown}}), (std::vector<JobOption>{{2, 1, 0, 1}}));
    EXPECT_TRUE(options_of(kTime, {}).empty());
}

TEST(JobOptions, WhatComesBeforeAnUnknownRunIsCountedOnceOneIsAssumed)
{
    const std::vector<CountOffer> behind_a_queue{{.unit_count = 1, .run_s = 0, .beyond_s = 1800, .objective = 1800}};
    const std::vector<JobOption> options = options_of({}, std::vector<PlaceOffers>{{0, behind_a_queue}});
    ASSERT_EQ(options.size(), 1U);

    const JobOption assumed = with_run_time(options[0], 600);

    EXPECT_EQ(assumed, (JobOption{.unit_type = 0, .unit_count = 1, .run_s = 600, .relative_objective = 4}));
}

TEST(LoadNow, IsTheMeanShareButNotMoreThanWhatRunsAndWaits)
{
    EXPECT_EQ(load_now(0.7, 10, 0, {.jobs = 50, .units = 80}), 0.7);
    EXPECT_EQ(load_now(1, 10, 10, {}), 0) << "nothing runs, nobody waits";
    EXPECT_EQ(load_now(1, 10, 10, {.jobs = 1, .units = 8}), 0) << "nobody else waits";
    EXPECT_EQ(load_now(1, 10, 10, {.jobs = 2, .units = 8}), 0.4) << "one other";
    EXPECT_EQ(load_now(1, 10, 6, {.jobs = 2, .units = 8}), 0.8);
    EXPECT_EQ(load_now(0.3, 0, 0, {}), 0.3) << "no units at all";
}

} // namespace
} // namespace fathom
