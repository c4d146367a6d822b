#include "tests/core/schedule/schedule_fixture.hpp"

#include <gmock/gmock.h>

namespace fathom {
namespace {

using namespace std::chrono_literals;
using test::kNow;
using test::ScheduleTest;
using testing::HasSubstr;

/// Three jobs of a hundredth of a second on beta, whose units are taken for half a second; alpha's for long.
class QueueTest : public ScheduleTest {
  protected:
    QueueTest()
    {
        UnitRequest one_unit;
        one_unit.count = 1;
        for (const char* id : {"j1", "j2", "j3"}) {
            add_job(id, 50, 0.01, one_unit);
            input_.jobs.back().request.job_type = "short";
        }
        take("alpha", 5000);
        take("beta", 0.5, 2);
        input_.may_queue = true;
        know_runs(3);
    }
    void know_runs(std::size_t count)
    {
        PastRun run;
        run.job_type = "short";
        run.unit_type = "ut_beta";
        run.raw_s = run.raw_low_s = run.raw_high_s = run.actual_s = 0.01;
        run.ended_at = kNow - 1h;
        knowledge_.runs = std::make_shared<const RunHistory>(std::vector<PastRun>(count, run), kNow);
    }
    /// How many wait at the center.
    std::size_t queued()
    {
        const SchedulePlan plan = decide();
        EXPECT_EQ(plan.starts.size() + plan.waits.size(), input_.jobs.size());
        for (const ScheduledStart& start : plan.starts)
            EXPECT_TRUE(start.is_queued);
        return plan.starts.size();
    }
};

TEST_F(QueueTest, ShortJobsWaitForTheirUnitAtTheCenter)
{
    const SchedulePlan plan = decide();

    ASSERT_EQ(plan.starts.size(), 3U);
    const std::vector<double> starts_s{0.5, 0.5, 0.52}; // two units come free, the third job follows the first
    for (std::size_t i = 0; i < 3; ++i) {
        EXPECT_TRUE(plan.starts[i].is_queued);
        EXPECT_EQ(plan.starts[i].winner.center, "beta");
        EXPECT_NEAR(plan.starts[i].winner.plan.start_s, starts_s[i], 0.002);
        EXPECT_THAT(plan.starts[i].decision.rank_text, HasSubstr("waits for its unit at the center"));
    }
}

TEST_F(QueueTest, NotMoreThanThereIsRoomFor)
{
    input_.queue_room["ut_beta"] = 2;
    EXPECT_EQ(queued(), 2U);
    input_.queue_room["ut_beta"] = 0;
    EXPECT_EQ(queued(), 0U);
}

TEST_F(QueueTest, NobodyQueuesUnlessItIsAllowed)
{
    input_.may_queue = false;
    EXPECT_EQ(queued(), 0U);
}

TEST_F(QueueTest, AFewRunsMustHaveShownThatTheTypeIsShort)
{
    know_runs(2);
    EXPECT_EQ(queued(), 0U);
}

TEST_F(QueueTest, OfWhichNothingIsKnownWaitsHere)
{
    for (ReadyJob& job : input_.jobs)
        job.request.operators.clear();
    EXPECT_EQ(queued(), 0U);
}

TEST_F(QueueTest, UnitsMustBeExpectedSoon)
{
    taken_.clear();
    take("alpha", 5000);
    take("beta", kMaxQueued_s + 0.1, 2);
    EXPECT_EQ(queued(), 0U);
}

TEST_F(QueueTest, WhatMovesDataItselfWaitsHere)
{
    for (ReadyJob& job : input_.jobs) {
        job.request.transfer.in_bytes = job.request.staged_in_bytes = 1000;
        job.request.kept_in_bytes = {{unit_types_[1].center_id.value, 1000}};
    }
    EXPECT_EQ(queued(), 3U) << "the center stages them, and has them already";
    for (ReadyJob& job : input_.jobs)
        job.request.staged_in_bytes = 0;
    EXPECT_EQ(queued(), 0U);
}

TEST_F(QueueTest, GangsAndProbesWaitHere)
{
    input_.jobs[0].request.is_probe = true;
    input_.jobs[1].gang = input_.jobs[2].gang = "physics\ntok_ada\ng";
    input_.jobs[1].gang_size = input_.jobs[2].gang_size = 2;
    EXPECT_EQ(queued(), 0U);
}

TEST_F(QueueTest, NothingQueuesWhereAReservationIsPlanned)
{
    unit_types_[1].holds = {{"physics", 3600, 7200, 1}};
    EXPECT_EQ(queued(), 0U);
}

} // namespace
} // namespace fathom
