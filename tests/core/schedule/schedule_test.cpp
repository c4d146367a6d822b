#include "tests/core/schedule/schedule_fixture.hpp"

#include <gmock/gmock.h>

namespace fathom {
namespace {

using test::reason_of;
using test::ScheduleTest;
using testing::HasSubstr;

TEST_F(ScheduleTest, AJobWaitsForAFasterPlaceThatIsSoonFreeWhereThereIsRoom)
{
    add_job("j", 720, 4800);
    take("alpha", 180);
    idle_for(24);

    const SchedulePlan plan = decide();

    EXPECT_TRUE(plan.starts.empty());
    ASSERT_EQ(plan.waits.size(), 1U);
    EXPECT_EQ(
        reason_of(plan.waits[0]),
        "waits for a unit of alpha/gpu, free in about 3 min: runs 12 min there, 80 min on beta/cpu, which is free");
    ASSERT_TRUE(plan.waits[0].planned);
    EXPECT_EQ(plan.waits[0].planned->unit_type_id.value, "ut_alpha");
    EXPECT_DOUBLE_EQ(plan.waits[0].planned->from_s, 180);
}

TEST_F(ScheduleTest, WithoutHistoryNothingWaitsForABetterPlace)
{
    add_job("j", 720, 4800);
    take("alpha", 180);

    const SchedulePlan plan = decide();

    EXPECT_TRUE(plan.waits.empty());
    ASSERT_EQ(plan.starts.size(), 1U);
    EXPECT_EQ(plan.starts[0].winner.center, "beta");
}

TEST_F(ScheduleTest, AWaitThatTakesLongerThanItSavesIsNotMade)
{
    add_job("j", 720, 4800);
    take("alpha", 4200);
    idle_for(24);

    ASSERT_EQ(decide().starts.size(), 1U);
}

TEST_F(ScheduleTest, AJobWhoseBestPlaceIsFreeStartsThereWhateverTheLoad)
{
    add_job("j", 720, 4800);
    idle_for(24);

    const SchedulePlan plan = decide();

    ASSERT_EQ(plan.starts.size(), 1U);
    EXPECT_EQ(plan.starts[0].winner.center, "alpha");
    EXPECT_TRUE(plan.starts[0].decision.rank_text.empty());
}

// "wide" waits for both units of beta, so they are worth more than alpha. "j" would end first on the one that is free,
// and before "wide" can start; it leaves it all the same, as the order says.
TEST_F(ScheduleTest, WhatTheOrderMakesWaitIsNotStartedBeforeItsTurn)
{
    UnitRequest both;
    both.count = 2;
    add_job("j", 100, 120);
    add_job("wide", 5000, 1000, both);
    take("alpha", 30);
    take("beta", 400);

    ASSERT_EQ(decide().starts.size(), 1U) << "without history it starts where it ends first";

    idle_for(12);
    const SchedulePlan plan = decide();

    EXPECT_TRUE(plan.starts.empty());
    ASSERT_EQ(plan.waits.size(), 2U);
    EXPECT_EQ(reason_of(plan.waits[0]), "waits for a unit of alpha/gpu, free in about 30 s: runs 100 s there, "
                                        "2 min on beta/cpu, which is free");
    EXPECT_THAT(reason_of(plan.waits[1]), HasSubstr("waits for 2 units of beta/cpu, free in about 7 min"));
}

// The order knows what runs; that alpha is kept for somebody else after it, only decisions know.
TEST_F(ScheduleTest, AJobDoesNotWaitForWhatIsKeptForOthers)
{
    add_job("j", 720, 4800);
    take("alpha", 180);
    taken_.push_back({.unit_type_id = UnitTypeId{"ut_alpha"}, .release_s = 90000, .from_s = 200});
    idle_for(24);

    const SchedulePlan plan = decide();

    ASSERT_EQ(plan.starts.size(), 1U);
    EXPECT_EQ(plan.starts[0].winner.center, "beta");
}

// By these two alone a unit of alpha is worth five of beta, which suits "short": 120 s there, and "long" goes first on
// alpha. To jobs that run as fast on both, which is most of what came, they are worth the same: the shorter goes first.
TEST_F(ScheduleTest, WorthsComeFromTheJobsThatCameOnceThereAreEnough)
{
    add_job("long", 200, 1000);
    add_job("short", 100, 120);
    for (ReadyJob& job : input_.jobs)
        job.request.project = job.id; // so that neither has the other's load
    take("beta", 5000, 2);

    const SchedulePlan alone = decide();
    ASSERT_EQ(alone.starts.size(), 1U);
    EXPECT_EQ(input_.jobs[alone.starts[0].job].id, "long");

    set_shadow_prices({{"ut_alpha", 1}, {"ut_beta", 1}});
    const SchedulePlan among_many = decide();
    ASSERT_EQ(among_many.starts.size(), 1U);
    EXPECT_EQ(input_.jobs[among_many.starts[0].job].id, "short");
}

// Alone in an idle network, however busy it was before.
TEST_F(ScheduleTest, BusierDaysDoNotSendALoneJobElsewhere)
{
    add_job("j", 100, 120);
    set_shadow_prices({{"ut_alpha", 1.8}, {"ut_beta", 0.6}}); // work on alpha is worth 180, on beta 72

    const SchedulePlan plan = decide();

    ASSERT_EQ(plan.starts.size(), 1U);
    EXPECT_EQ(plan.starts[0].winner.center, "alpha");
    EXPECT_TRUE(plan.starts[0].decision.rank_text.empty());
}

TEST_F(ScheduleTest, OneProjectIsNotHeldAgainstItself)
{
    add_job("a_long", 100, 100);
    add_job("b_short", 90, 90);
    take("alpha", 5000);
    take("beta", 5000);
    for (ReadyJob& job : input_.jobs)
        job.request.project = "only";
    // All that the project has taken before the second job would count against it.
    input_.project_uses = {{.project = "only", .used_unit_s = {{"ut_beta", 1e6}}, .units = {{"ut_beta", 1}}}};

    const SchedulePlan plan = decide();

    ASSERT_EQ(plan.starts.size(), 1U);
    EXPECT_EQ(input_.jobs[plan.starts[0].job].id, "b_short");
}

// The order takes alpha for free, but it is kept from soon on: it is struck, and the job starts on beta.
TEST_F(ScheduleTest, APlaceThatIsNotFreeForTheJobIsNoneOfItsPlaces)
{
    add_job("j", 100, 120);
    add_job("other", 1000, 110);
    unit_types_[0].unit_count = 2;
    unit_types_[0].availability = Availability(2);
    taken_.push_back({.unit_type_id = UnitTypeId{"ut_alpha"}, .release_s = 90000, .from_s = 50});
    taken_.push_back({.unit_type_id = UnitTypeId{"ut_alpha"}, .release_s = 90000, .from_s = 60});

    const SchedulePlan plan = decide();

    ASSERT_EQ(plan.starts.size(), 2U);
    EXPECT_EQ(plan.starts[0].winner.center, "beta");
    EXPECT_EQ(plan.starts[1].winner.center, "beta");
}

TEST_F(ScheduleTest, UnitsArePlannedForThoseWhoseTurnComesFirst)
{
    for (std::size_t i = 0; i < kMaxPlanned + 6; ++i)
        add_job("j" + std::to_string(100 + i), 100 + static_cast<double>(i), 5000);
    take("alpha", 5000);
    take("beta", 5000, 2);

    const SchedulePlan plan = decide();

    ASSERT_EQ(plan.waits.size(), kMaxPlanned + 6);
    for (const ScheduledWait& wait : plan.waits) {
        EXPECT_TRUE(wait.waits_for_units);
        EXPECT_EQ(wait.planned.has_value(), wait.job < kMaxPlanned) << "short ones have their turn first";
        EXPECT_THAT(reason_of(wait), HasSubstr("waits for a unit of "));
    }
}

TEST_F(ScheduleTest, AQueueOfTheCenterCountsWhereNothingIsMeasured)
{
    for (const char* id : {"a", "b", "c"})
        add_job(id, 1, 1);
    unit_types_[0].measured.clear();
    unit_types_[0].queued_s = 1800;

    const SchedulePlan plan = decide();

    ASSERT_EQ(plan.starts.size(), 2U);
    for (const ScheduledStart& start : plan.starts)
        EXPECT_EQ(start.winner.center, "beta");
    ASSERT_EQ(plan.waits.size(), 1U);
    EXPECT_EQ(plan.waits[0].decision->candidates.at(plan.waits[0].decision->winner.value()).center, "beta");

    unit_types_[0].queued_s = 0;
    EXPECT_EQ(decide().starts.size(), 3U) << "what is free is used, measured or not";
}

TEST_F(ScheduleTest, JobsJoinTheQueueOfACenterWhereTheyEndEarlier)
{
    add_job("a", 100, 4000);
    unit_types_[0].queued_s = 1800;
    const SchedulePlan alone = decide();
    ASSERT_EQ(alone.starts.size(), 1U);
    EXPECT_EQ(alone.starts[0].winner.center, "alpha") << "though beta is free";

    input_.jobs.clear();
    add_job("b", 100, 100);
    take("beta", 600, 2);
    EXPECT_TRUE(decide().starts.empty()) << "it ends earlier on beta, later";
    for (int i = 10; i < 50; ++i)
        add_job("c" + std::to_string(i), 100, 100);
    ASSERT_EQ(decide().starts.size(), 1U) << "those that wait fill beta for longer than alpha's queue is";
    EXPECT_EQ(decide().starts[0].winner.center, "alpha");
}

TEST_F(ScheduleTest, WhatStartsTakeCountsForShortJobs)
{
    add_job("j", 1.0, 1.2);
    std::vector<PastWait> starts(50, {.unit_type = "ut_alpha", .expected_s = 0, .actual_s = 2});
    starts.insert(starts.end(), 50, {.unit_type = "ut_beta", .expected_s = 0, .actual_s = 0.1});
    knowledge_.waits = std::make_shared<const WaitHistory>(starts);

    const SchedulePlan plan = decide();

    ASSERT_EQ(plan.starts.size(), 1U);
    EXPECT_EQ(plan.starts[0].winner.center, "beta");
}

} // namespace
} // namespace fathom
