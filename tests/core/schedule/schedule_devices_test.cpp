#include "core/schedule/decided_places.hpp"
#include "tests/core/schedule/schedule_fixture.hpp"

#include <gmock/gmock.h>

#include <algorithm>

namespace fathom {
namespace {

using test::kNow;
using test::reason_of;
using test::ScheduleTest;
using testing::HasSubstr;

/// Two GPUs of four parts at alpha, and jobs that run 100 s on one part.
class ExclusiveTest : public ScheduleTest {
  protected:
    ExclusiveTest()
    {
        unit_types_ = {test::unit_type("alpha", "part", 8)};
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

/// Two CPUs and two GPUs of one center, and jobs of which 100 s on a GPU are 150 s on a CPU.
class GpuThresholdTest : public ScheduleTest {
  protected:
    GpuThresholdTest()
    {
        unit_types_ = {test::unit_type("alpha", "core", 2), test::unit_type("beta", "gpu", 2)};
        unit_types_[1].center_id = unit_types_[0].center_id;
        unit_types_[1].center_name = "alpha";
        unit_types_[1].resource_type = "cuda";
    }
    void add(const std::string& id, double threshold)
    {
        UnitRequest units;
        units.count = 1;
        add_job(id, 150, 100, units);
        input_.jobs.back().request.follows_gpu_threshold = true;
        input_.jobs.back().request.gpu_threshold = threshold;
    }
};

TEST_F(GpuThresholdTest, JobsThatGainTooLittleLeaveTheGpusFree)
{
    add("a", 2);
    add("b", 2);
    const SchedulePlan plan = decide();

    ASSERT_EQ(plan.starts.size(), 2U);
    for (const ScheduledStart& start : plan.starts) {
        EXPECT_EQ(start.winner.unit_type, "core");
        EXPECT_THAT(start.decision.rank_text, testing::IsEmpty()) << "where it would go alone";
    }
}

TEST_F(GpuThresholdTest, GpusAreTakenInTheSameCycleWhenNoCpuIsLeft)
{
    for (const char* id : {"a", "b", "c", "d", "e"})
        add(id, 2);
    const SchedulePlan plan = decide();

    ASSERT_EQ(plan.starts.size(), 4U) << "a CPU's wait of 150 s and a run of 150 s are more than twice 100 s";
    const auto on_gpus = std::count_if(plan.starts.begin(), plan.starts.end(),
                                       [](const ScheduledStart& start) { return start.winner.unit_type == "gpu"; });
    EXPECT_EQ(on_gpus, 2);
    EXPECT_EQ(plan.waits.size(), 1U);
}

TEST(DecidedPlaces, WhatTheOrderUsesAllTheSameWasNotSetAside)
{
    Decision decision;
    decision.candidates.resize(3);
    for (Candidate& one : decision.candidates)
        one.center = "alpha";
    decision.candidates[1].removed_by = decision.candidates[2].removed_by = Filter::kSpeedup;
    decision.filter_trace = {3, 1, {{Filter::kSpeedup, 2, {{"alpha", 2, "on alpha/gpu"}}}}};
    decision.devices.resize(1);
    decision.devices[0].center = "alpha";
    decision.devices[0].decides = true;

    take_back(decision, 1);
    EXPECT_EQ(decision.filter_trace.left, 2);
    EXPECT_TRUE(decision.devices[0].decides) << "of another place";

    decision.candidates[1].removed_by.reset();
    take_back(decision, 2);
    EXPECT_EQ(decision.filter_trace.left, 3);
    EXPECT_TRUE(decision.filter_trace.steps.empty());
    EXPECT_FALSE(decision.devices[0].decides);
}

} // namespace
} // namespace fathom
