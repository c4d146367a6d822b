// What jobs of one cycle count for each other on the GPUs that they share: speed that they take, memory that they are
// expected to have.
#include "core/decide/corun/pair_model.hpp"
#include "tests/core/schedule/schedule_fixture.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace fathom {
namespace {

using test::ScheduleTest;

/// A GPU of four parts at alpha, and another at beta. Jobs of one kind run 100 s alone at alpha, 150 s at beta.
class SharedGpuTest : public ScheduleTest {
  protected:
    SharedGpuTest()
    {
        unit_types_ = {test::unit_type("alpha", "part", 4), test::unit_type("beta", "part", 4)};
        for (UnitTypeView& view : unit_types_) {
            view.resource_type = "cuda";
            view.units_per_device = 4;
            view.free_all();
        }
        idle_for(1000);
    }

    /// Jobs of the kind keep so much of their speed beside each other.
    void know_pair(double share)
    {
        PairModel pairs;
        EXPECT_TRUE(pairs.add({.a = {"type:solve", KernelClass::kUnknown},
                               .b = {"type:solve", KernelClass::kUnknown},
                               .a_share = share,
                               .b_share = share}));
        pairs.refit();
        input_.gpu_pairs = std::make_shared<const PairTable>(std::set<std::string>{"type:solve"}, pairs);
    }

    RouteRequest& add_solve(const std::string& id, double on_alpha_s = 100, double on_beta_s = 150)
    {
        UnitRequest units;
        units.count = 1;
        add_job(id, on_alpha_s, on_beta_s, units);
        return input_.jobs.back().request;
    }
    void add_kind(const std::string& id) { add_solve(id).gpu_kind = "type:solve"; }

    static std::vector<std::string> places_of(const SchedulePlan& plan)
    {
        std::vector<std::string> places;
        for (const ScheduledStart& start : plan.starts)
            places.push_back(start.winner.center);
        std::sort(places.begin(), places.end());
        return places;
    }
};

TEST_F(SharedGpuTest, JobsOfOneCycleAreSentApartWhereTheyHurtEachOther)
{
    add_kind("a");
    add_kind("b");

    EXPECT_EQ(places_of(decide()), (std::vector<std::string>{"alpha", "alpha"})) << "nothing was measured";

    know_pair(0.1);
    EXPECT_EQ(places_of(decide()), (std::vector<std::string>{"alpha", "beta"})) << "190 s beside the other, or 150 s";

    know_pair(0.95);
    EXPECT_EQ(places_of(decide()), (std::vector<std::string>{"alpha", "alpha"})) << "sooner than alone at beta";
}

TEST_F(SharedGpuTest, WhoSharesWithOneOfItsCycleIsPredictedSo)
{
    know_pair(0.5);
    unit_types_.pop_back();
    MeasuredOperator one;
    for (const char* id : {"a", "b"}) {
        one.operator_id = std::string("op_") + id;
        one.parameters_key = "n=1";
        one.operations = 1e6;
        one.median_s = one.ci_low_s = one.ci_high_s = 100;
        unit_types_[0].operators.push_back(one.operator_id);
        unit_types_[0].measured.push_back(one);
        ReadyJob job;
        job.id = job.kind = id;
        job.request.operators = {{one.operator_id, "n=1", 1, 1e6, 1e5}};
        job.request.units.count = 1;
        job.request.transfer.now = test::kNow;
        job.request.gpu_kind = "type:solve";
        input_.jobs.push_back(std::move(job));
    }

    const SchedulePlan plan = decide();

    ASSERT_EQ(plan.starts.size(), 2U) << "there is no other place";
    EXPECT_NEAR(plan.starts[0].winner.prediction.run_s, 100, 1e-6);
    EXPECT_FALSE(plan.starts[0].winner.gpu_share.is_known);
    EXPECT_NEAR(plan.starts[1].winner.prediction.run_s, 150, 1e-6) << "half of its speed for the 100 s of the other";
    EXPECT_EQ(plan.starts[1].winner.gpu_share.neighbours, 1);
    const Json inputs = Json::parse(plan.starts[1].inputs);
    EXPECT_EQ(inputs["request"]["gpu_shares"]["ut_alpha"]["share"], 0.5) << "so it is decided again";
}

TEST_F(SharedGpuTest, OneThatRunsThereIsCountedWithThoseOfTheCycle)
{
    know_pair(0.1);
    add_kind("a");
    std::vector<TenantedGpu> gpus = gpus_of(4, 4);
    place_tenant(gpus, {"type:solve", 1000}, 1, *input_.gpu_pairs);
    const std::vector<KnownGpus> known{{{"ut_alpha"}, gpus}};
    UnitLedger units(unit_types_, {}, {.now = test::kNow, .gpus = known});

    EXPECT_EQ(places_of(schedule(units, input_)), std::vector<std::string>{"beta"});
    ASSERT_EQ(units.gpus().size(), 2U) << "now somebody is at beta, too";
    EXPECT_EQ(units.gpus()[0].gpus, gpus);
    EXPECT_EQ(units.gpus()[1].gpus[0].tenants.at(0).kind, "type:solve");
    EXPECT_EQ(units.gpus()[1].gpus[0].free_parts, 3U);
}

TEST_F(SharedGpuTest, OfJobsThatNoPairTellsOfNothingChanges)
{
    know_pair(0.1);
    for (const char* id : {"a", "b", "c", "d"})
        add_solve(id);

    EXPECT_EQ(places_of(decide()), (std::vector<std::string>{"alpha", "alpha", "alpha", "alpha"}));
}

TEST_F(SharedGpuTest, ATrialThatIsUndoneHasPlacedNobody)
{
    know_pair(0.1);
    UnitLedger units(unit_types_, {}, {.now = test::kNow});
    units.know_pairs(input_.gpu_pairs);
    units.begin_trial();
    units.place_on_gpus({"ut_alpha"}, {"type:solve", 100}, 1, false);
    ASSERT_EQ(units.gpus().size(), 1U);
    ASSERT_NE(units.views()[0].gpu_neighbours, nullptr);
    EXPECT_NEAR(units.views()[0].gpu_neighbours->expect("type:solve").value().share, 0.1, 1e-12);

    units.undo_trial();

    EXPECT_TRUE(units.gpus().empty());
    EXPECT_EQ(units.views()[0].gpu_neighbours, nullptr);
}

TEST_F(SharedGpuTest, OfVeryManyGpusNothingIsForeseen)
{
    know_pair(0.1);
    unit_types_[0].unit_count = (kMaxForeseenGpus + 1) * 4;
    unit_types_[0].free_all();
    UnitLedger units(unit_types_, {}, {.now = test::kNow});
    units.know_pairs(input_.gpu_pairs);

    units.place_on_gpus({"ut_alpha"}, {"type:solve", 100}, 1, false);
    units.place_on_gpus({"ut_gone"}, {"type:solve", 100}, 1, false);

    EXPECT_TRUE(units.gpus().empty());
}

TEST_F(SharedGpuTest, WhoSharesNoGpuLeavesItToNobody)
{
    know_pair(0.95);
    add_kind("a");
    input_.jobs.back().request.gpu_kind.clear();
    input_.jobs.back().request.units.sharing = UnitSharing::kExclusive;
    UnitLedger units(unit_types_, {}, {.now = test::kNow});

    ASSERT_EQ(schedule(units, input_).starts.size(), 1U);

    ASSERT_EQ(units.gpus().size(), 1U);
    EXPECT_EQ(units.gpus()[0].gpus[0].free_parts, 0U);
}

constexpr std::int64_t kGibibyte = std::int64_t{1} << 30;

/// The same, of which earlier runs had 20 GB of a GPU; GPUs have 32 GB.
class LearnedGpuMemoryTest : public SharedGpuTest {
  protected:
    LearnedGpuMemoryTest()
    {
        for (UnitTypeView& view : unit_types_) {
            view.gpu_memory_bytes = 32 * kGibibyte;
            view.gpu_rooms = {{32 * kGibibyte, 0, 0, 0}};
        }
    }
    void add_learned(const std::string& id) { add_solve(id).learned_gpu_memory = {20 * kGibibyte, 0}; }
};

TEST_F(LearnedGpuMemoryTest, JobsOfOneCycleAreSentApartWhereTheirMemoryWouldNotFit)
{
    add_learned("a");
    add_learned("b");

    EXPECT_EQ(places_of(decide()), (std::vector<std::string>{"alpha", "beta"}));

    unit_types_[0].gpu_rooms.push_back({32 * kGibibyte, 0, 0, 0});
    EXPECT_EQ(places_of(decide()), (std::vector<std::string>{"alpha", "alpha"})) << "there is another GPU";
}

TEST_F(LearnedGpuMemoryTest, WhatTheyAreExpectedToHaveKeepsNobodyWaiting)
{
    for (const char* id : {"a", "b", "c", "d"})
        add_learned(id);
    add_solve("e").units.gpu_memory = {30 * kGibibyte, 0};

    EXPECT_EQ(decide().starts.size(), 5U) << "nothing is reserved for what they may not use";
}

TEST_F(LearnedGpuMemoryTest, IsKeptFromBatchToBatch)
{
    UnitLedger units(unit_types_, {}, {.now = test::kNow});
    units.admit({"ut_alpha"}, {}, {20 * kGibibyte, 0});

    const std::vector<KnownGpuRoom> rooms = units.gpu_rooms();

    ASSERT_EQ(rooms.size(), 2U);
    EXPECT_EQ(rooms[0].room.persistent_bytes, 0);
    ASSERT_TRUE(rooms[0].expected);
    EXPECT_EQ(rooms[0].expected->persistent_bytes, 20 * kGibibyte);
    EXPECT_FALSE(rooms[1].expected);
    for (UnitTypeView& view : unit_types_)
        view.gpu_rooms.clear();
    const UnitLedger next(unit_types_, {}, {.now = test::kNow, .gpu_rooms = rooms});
    EXPECT_EQ(next.views()[0].expected_gpu_rooms.at(0).persistent_bytes, 20 * kGibibyte);
    EXPECT_EQ(next.views()[0].gpu_rooms.at(0).persistent_bytes, 0);
}

} // namespace
} // namespace fathom
