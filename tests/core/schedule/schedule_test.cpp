#include "core/decide/queue/busy_share.hpp"
#include "core/schedule/schedule.hpp"
#include "core/schedule/waiting_reason.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace fathom {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

constexpr Timestamp kNow{std::chrono::sys_days{std::chrono::year{2026} / 11 / 20}};

UnitTypeView unit_type(const std::string& center, const std::string& name, std::int64_t units)
{
    UnitTypeView view;
    view.id = UnitTypeId{"ut_" + center};
    view.name = name;
    view.center_id = CenterId{"ctr_" + center};
    view.center_name = center;
    view.resource_type = "cpu";
    view.unit_count = units;
    view.availability = Availability(units);
    return view;
}

/// Units of alpha/gpu and beta/cpu, and jobs of one operator each.
class ScheduleTest : public ::testing::Test {
  protected:
    ScheduleTest() { unit_types_ = {unit_type("alpha", "gpu", 1), unit_type("beta", "cpu", 2)}; }

    /// A job that runs so long on each; unit counts as asked. In order of id.
    void add_job(const std::string& id, double on_alpha_s, double on_beta_s, UnitRequest units = {})
    {
        const double run_s[] = {on_alpha_s, on_beta_s};
        for (std::size_t type = 0; type < 2; ++type) {
            MeasuredOperator one;
            one.operator_id = "op_" + id;
            one.parameters_key = "n=1";
            one.operations = 1e6;
            one.median_s = one.ci_low_s = one.ci_high_s = run_s[type];
            unit_types_[type].operators.push_back(one.operator_id);
            unit_types_[type].measured.push_back(one);
        }
        ReadyJob job;
        job.id = id;
        job.kind = id;
        job.request.operators = {{"op_" + id, "n=1", 1, 1e6, 1e5}};
        job.request.units = std::move(units);
        job.request.transfer.now = kNow;
        input_.jobs.push_back(std::move(job));
    }
    void take(const std::string& center, double until_s, std::int64_t units = 1)
    {
        taken_.push_back({.unit_type_id = UnitTypeId{"ut_" + center}, .unit_count = units, .release_s = until_s});
    }
    /// Nothing has been in use for so long.
    void idle_for(int hours)
    {
        BusyShare share;
        share.note(0, Seconds(hours * 1h).count());
        input_.busy_shares = {{"ut_alpha", share.mean()}, {"ut_beta", share.mean()}};
    }
    SchedulePlan decide()
    {
        UnitLedger units(unit_types_, knowledge_, {}, taken_, {}, kNow);
        return schedule(units, input_);
    }

    std::vector<UnitTypeView> unit_types_;
    ScheduleInput input_;
    RouteKnowledge knowledge_;
    std::vector<Reservation> taken_;
};

std::string reason_of(const ScheduledWait& wait)
{
    const Candidate& winner = wait.decision->candidates.at(wait.decision->winner.value());
    return waiting_reason_of(*wait.decision, kNow) +
           (wait.left_free ? deferred_start_text(winner, *wait.left_free) : std::string());
}

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
    EXPECT_TRUE(plan.starts[0].decision.turn.empty());
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

    input_.shadow_prices = {{"ut_alpha", 1}, {"ut_beta", 1}};
    const SchedulePlan among_many = decide();
    ASSERT_EQ(among_many.starts.size(), 1U);
    EXPECT_EQ(input_.jobs[among_many.starts[0].job].id, "short");
}

// Alone in an idle network, however busy it was before.
TEST_F(ScheduleTest, BusierDaysDoNotSendALoneJobElsewhere)
{
    add_job("j", 100, 120);
    input_.shadow_prices = {{"ut_alpha", 1.8}, {"ut_beta", 0.6}}; // work on alpha is worth 180, on beta 72

    const SchedulePlan plan = decide();

    ASSERT_EQ(plan.starts.size(), 1U);
    EXPECT_EQ(plan.starts[0].winner.center, "alpha");
    EXPECT_TRUE(plan.starts[0].decision.turn.empty());
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
        run.promised_s = run.promised_low_s = run.promised_high_s = run.actual_s = 0.01;
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
        EXPECT_THAT(plan.starts[i].decision.turn, HasSubstr("waits for its unit at the center"));
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

/// Two GPUs of four parts at alpha, and jobs that run 100 s on one part.
class ExclusiveTest : public ScheduleTest {
  protected:
    ExclusiveTest()
    {
        unit_types_ = {unit_type("alpha", "part", 8)};
        unit_types_[0].resource_type = "cuda";
        unit_types_[0].units_per_device = 4;
        unit_types_[0].free_all();
    }
    void add(const std::string& id, UnitSharing sharing)
    {
        MeasuredOperator one;
        one.operator_id = "op_" + id;
        one.parameters_key = "n=1";
        one.operations = 1e6;
        one.median_s = one.ci_low_s = one.ci_high_s = 100;
        unit_types_[0].operators.push_back(one.operator_id);
        unit_types_[0].measured.push_back(one);
        ReadyJob job;
        job.id = job.kind = id;
        job.request.operators = {{"op_" + id, "n=1", 1, 1e6, 1e5}};
        job.request.units.count = 1;
        job.request.units.sharing = sharing;
        job.request.transfer.now = kNow;
        input_.jobs.push_back(std::move(job));
    }
    /// One part, of a device that is not whole because of it, or of one that another makes so.
    void take_part(double until_s, bool makes_device_shared = true)
    {
        taken_.push_back({.unit_type_id = UnitTypeId{"ut_alpha"},
                          .unit_count = 1,
                          .release_s = until_s,
                          .whole_device_units = makes_device_shared ? 4 : 0});
    }
};

TEST_F(ExclusiveTest, TakesAllPartsOfADeviceThatNobodyHasAPartOf)
{
    take_part(50);
    add("a", UnitSharing::kExclusive);
    const SchedulePlan plan = decide();

    ASSERT_EQ(plan.starts.size(), 1U);
    EXPECT_EQ(plan.starts[0].winner.unit_count, 4);
    EXPECT_EQ(plan.starts[0].winner.whole_devices, 1);
    EXPECT_EQ(plan.starts[0].winner.count_reason, "4 units, all parts of a device: sharing: exclusive, "
                                                  "so no other job computes on its devices");
}

TEST_F(ExclusiveTest, WaitsWhereEachDeviceHasATenantThoughEnoughPartsAreFree)
{
    take_part(50);
    take_part(80);
    add("a", UnitSharing::kExclusive);
    const SchedulePlan plan = decide();

    ASSERT_EQ(plan.waits.size(), 1U);
    EXPECT_THAT(reason_of(plan.waits[0]),
                HasSubstr("waits for a whole device of alpha/part (4 units), of which no other "
                          "job has a part, free in about 50 s"));
    ASSERT_TRUE(plan.waits[0].planned);
    EXPECT_EQ(plan.waits[0].planned->from_s, 0) << "parts are kept for it now, so that a device becomes whole";
    EXPECT_EQ(plan.waits[0].planned->unit_count, 4);
}

TEST_F(ExclusiveTest, IsNotStarvedByJobsThatShare)
{
    take_part(50);
    take_part(80);
    add("a", UnitSharing::kExclusive);
    for (int i = 0; i < 6; ++i)
        add("b" + std::to_string(i), UnitSharing::kAllowed);
    EXPECT_EQ(decide().starts.size(), 6U) << "others start while it has not waited long";

    input_.jobs[0].waited_s = 1e6;
    EXPECT_EQ(decide().starts.size(), 2U) << "then as many parts as it needs are given to nobody";
}

TEST_F(ExclusiveTest, TwoTakeBothDevicesAndNobodyGetsAPart)
{
    for (const char* id : {"a", "b"})
        add(id, UnitSharing::kExclusive);
    add("c", UnitSharing::kAllowed);
    const SchedulePlan plan = decide();

    EXPECT_EQ(plan.starts.size() + plan.waits.size(), 3U);
    std::int64_t units = 0;
    for (const ScheduledStart& start : plan.starts)
        units += start.winner.unit_count;
    EXPECT_LE(units, 8);
    EXPECT_GE(plan.waits.size(), 1U);
}

TEST_F(ExclusiveTest, OfUnitsThatShareNoDeviceItTakesWhatOthersTake)
{
    unit_types_[0].units_per_device = 1;
    unit_types_[0].free_all();
    take_part(50);
    add("a", UnitSharing::kExclusive);
    const SchedulePlan plan = decide();

    ASSERT_EQ(plan.starts.size(), 1U);
    EXPECT_EQ(plan.starts[0].winner.unit_count, 1);
}

constexpr std::int64_t kGigabyte = std::int64_t{1} << 30;

/// A GPU of 32 GB at alpha whose memory jobs share.
class GpuRoomTest : public ExclusiveTest {
  protected:
    GpuRoomTest()
    {
        unit_types_[0].gpu_memory_bytes = 32 * kGigabyte;
        unit_types_[0].gpu_rooms = {{32 * kGigabyte, 20 * kGigabyte, 4 * kGigabyte, 0}};
    }
    void add_needing(const std::string& id, std::int64_t persistent, std::int64_t temporary)
    {
        add(id, UnitSharing::kAllowed);
        input_.jobs.back().request.units.gpu_memory = {persistent * kGigabyte, temporary * kGigabyte};
    }
};

TEST_F(GpuRoomTest, AJobWaitsForMemoryThatOthersHaveAndIsToldTheFigures)
{
    take_part(50);
    add_needing("a", 8, 8);
    const SchedulePlan plan = decide();

    ASSERT_EQ(plan.waits.size(), 1U);
    EXPECT_THAT(reason_of(plan.waits[0]),
                HasSubstr("waits for GPU memory of alpha/part: the job needs 8.59 GB, and 8.59 GB within an iteration; "
                          "of the 34.4 GB of the GPU with most room others keep 21.5 GB, and 4.29 GB within an "
                          "iteration: 4.29 GB too little with a gap of 0 B"));

    unit_types_[0].gpu_rooms.push_back({32 * kGigabyte, 0, 0, 0});
    EXPECT_EQ(decide().starts.size(), 1U) << "on another GPU";
}

TEST_F(GpuRoomTest, OfTwoThatDoNotFitTogetherOneStarts)
{
    add_needing("a", 6, 4);
    add_needing("b", 6, 4);
    EXPECT_EQ(decide().starts.size(), 1U);

    input_.jobs[1].request.units.gpu_memory = {};
    EXPECT_EQ(decide().starts.size(), 2U) << "one that says nothing of memory waits for none";
}

} // namespace
} // namespace fathom
