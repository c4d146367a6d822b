// What a place costs a job of which earlier runs had more of a GPU's memory than is left there.
#include "core/decide/routing/decision_json.hpp"
#include "core/decide/routing/gpu_room_cost.hpp"
#include "core/decide/routing/route.hpp"
#include "tests/core/decide/routing/place_fixture.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <vector>

namespace fathom {
namespace {

using test::job_of;
using test::kHour_s;
using test::kNow;
using test::measured;
using test::price;
using test::unit_type;
using test::winner_of;

constexpr std::int64_t kGigabyte = std::int64_t{1} << 30;

/// GPUs of 32 GB that jobs share, of whose memory others have so much.
UnitTypeView with_gpu(const std::string& name, std::int64_t held_gigabytes)
{
    UnitTypeView view = unit_type(name);
    view.gpu_rooms = {{32 * kGigabyte, held_gigabytes * kGigabyte, 0, 0}};
    return view;
}

/// Earlier runs had 4 GB of a GPU, and 1 GB within an iteration.
RouteRequest job_that_had(double hours)
{
    RouteRequest request = job_of(hours);
    request.learned_gpu_memory = {4 * kGigabyte, kGigabyte};
    return request;
}

TEST(PlaceGpuRoom, APlaceThatHasTheMemoryOfEarlierRunsIsTakenBeforeAFasterOneThatHasNot)
{
    const UnitTypeView full = with_gpu("full", 30);
    UnitTypeView roomy = with_gpu("roomy", 20);
    roomy.measured = {measured("dgemm", 0.012)}; // slower

    EXPECT_EQ(winner_of(route(job_of(1), std::vector{full, roomy})).center, "full") << "nothing was learned";

    const Decision decision = route(job_that_had(1), std::vector{full, roomy});
    EXPECT_EQ(winner_of(decision).center, "roomy");
    EXPECT_EQ(winner_of(decision).gpu_room.missing_bytes, 0);
    const Candidate& other = decision.candidates.at(1);
    EXPECT_TRUE(other.feasible);
    EXPECT_EQ(other.gpu_room.missing_bytes, 3 * kGigabyte);
    EXPECT_NEAR(other.gpu_room.penalty_s, 60 + kHour_s, 1) << "the look ahead, and the run again";
    EXPECT_NEAR(other.prediction.run_s, kHour_s, 1) << "that is as it was";
    EXPECT_THAT(other.reason, testing::HasSubstr("later, for its GPUs have less memory left than earlier runs"));
    EXPECT_EQ(to_json(decision, "")["candidates"][1]["gpu_room"]["missing_bytes"], 3 * kGigabyte);
}

TEST(PlaceGpuRoom, WhereNoPlaceHasTheMemoryTheJobStartsAllTheSame)
{
    const Decision decision = route(job_that_had(1), std::vector{with_gpu("full", 30)});

    EXPECT_TRUE(decision.can_start_now);
    EXPECT_EQ(winner_of(decision).wait_s, 0);
    EXPECT_THAT(winner_of(decision).gpu_memory_obstacle, "");
    EXPECT_THAT(winner_of(decision).assumptions,
                testing::Contains(testing::HasSubstr(
                    "earlier runs of its type had up to 4.29 GB of a GPU's memory, and 1.07 GB within an iteration; "
                    "for as much 3.22 GB are missing on the GPU with most room, so this counted against the place")));
}

TEST(PlaceGpuRoom, CountsForNothingWhereItStartsOnlyOnceSomebodyHasGone)
{
    UnitTypeView later = with_gpu("full", 30);
    later.availability.take(0, 2 * kHour_s, 1);

    EXPECT_EQ(winner_of(route(job_that_had(1), std::vector{later})).gpu_room.missing_bytes, 0);
}

TEST(PlaceGpuRoom, AGpuOfAnotherUnitThatHasTheMemoryWillDo)
{
    UnitTypeView view = with_gpu("full", 30);
    view.gpu_rooms.push_back({32 * kGigabyte, 0, 0, 0});

    EXPECT_EQ(winner_of(route(job_that_had(1), std::vector{view})).gpu_room.penalty_s, 0);
}

TEST(PlaceGpuRoom, WhatJobsThatWerePlacedThereAreExpectedToHaveCounts)
{
    UnitTypeView view = with_gpu("alpha", 0);
    view.expected_gpu_rooms = {{32 * kGigabyte, 30 * kGigabyte, 0, 0}};

    const Decision decision = route(job_that_had(1), std::vector{view});

    EXPECT_EQ(winner_of(decision).gpu_room.missing_bytes, 3 * kGigabyte);
    EXPECT_TRUE(decision.can_start_now);
    view.gpu_memory_bytes = 32 * kGigabyte;
    RouteRequest saying = job_of(1);
    saying.units.gpu_memory = {4 * kGigabyte, kGigabyte};
    EXPECT_TRUE(route(saying, std::vector{view}).can_start_now) << "who says its need waits for nobody's guess";
}

TEST(ExpectInRoom, IsOnTheGpuThatItFitsBest)
{
    std::vector<GpuRoom> rooms{{32, 0, 0, 0}, {32, 20, 0, 0}, {32, 31, 0, 0}};
    for (GpuRoom& room : rooms) {
        room.capacity_bytes *= kGigabyte;
        room.persistent_bytes *= kGigabyte;
    }

    expect_in_room(rooms, {8 * kGigabyte, 2 * kGigabyte});
    EXPECT_EQ(rooms[0].persistent_bytes, 0);
    EXPECT_EQ(rooms[1].persistent_bytes, 28 * kGigabyte);
    EXPECT_EQ(rooms[1].temporary_bytes, 2 * kGigabyte);
    EXPECT_EQ(rooms[2].persistent_bytes, 31 * kGigabyte);

    expect_in_room(rooms, {40 * kGigabyte, 0});
    EXPECT_EQ(rooms[0].persistent_bytes, 40 * kGigabyte) << "where it fits nowhere, where most room is";
    std::vector<GpuRoom> none;
    expect_in_room(none, {1, 1});
    EXPECT_TRUE(none.empty());
}

// It would wait for the memory for a minute, and starts at midnight, when the units cost less.
TEST(PlaceGpuRoom, CountsForNothingWhereItWaitsLongerForACheaperHour)
{
    UnitTypeView view = with_gpu("full", 30);
    view.price = price(10, 1);
    RouteRequest request = job_that_had(1);
    request.prefer = {0, 1, 0};
    request.transfer.deadline = kNow + std::chrono::hours(20);

    const Decision decision = route(request, std::vector{view});

    const Candidate& winner = winner_of(decision);
    ASSERT_TRUE(winner.plan.window);
    EXPECT_GT(winner.plan.start_s, kHour_s);
    EXPECT_EQ(winner.gpu_room.missing_bytes, 0);
    EXPECT_EQ(winner.gpu_room.penalty_s, 0);
}

} // namespace
} // namespace fathom
