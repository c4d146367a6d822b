#include "core/decide/routing/route_kind_key.hpp"

#include <gtest/gtest.h>

namespace fathom {
namespace {

/// Jobs of a kind are decided, told and kept together, so all that a request says of its units counts, not only what
/// the filters compare.
TEST(RouteKindKey, JobsThatNeedAsMuchGpuMemoryOfOtherKindsAreOfOtherKinds)
{
    RouteRequest job;
    job.units.gpu_memory = {10, 30};
    RouteRequest other = job;
    EXPECT_EQ(kind_key(other), kind_key(job));

    other.units.gpu_memory = {30, 10};
    EXPECT_NE(kind_key(other), kind_key(job));
}

TEST(RouteKindKey, JobsThatShareNoDeviceAreOfAnotherKind)
{
    const RouteRequest job;
    RouteRequest other = job;
    other.units.sharing = UnitSharing::kExclusive;
    EXPECT_NE(kind_key(other), kind_key(job));
}

TEST(RouteKindKey, JobsThatOtherPlacesAllowToRunSoLongAreOfAnotherKind)
{
    const RouteRequest job;
    RouteRequest other = job;
    other.wall_limit_s = 61;
    EXPECT_NE(kind_key(other), kind_key(job));
}

TEST(RouteKindKey, JobsThatOtherCentersHaveRefusedAreOfAnotherKind)
{
    const RouteRequest job;
    RouteRequest other = job;
    other.refused_by = {"ctr_a"};
    EXPECT_NE(kind_key(other), kind_key(job));
}

TEST(RouteKindKey, JobsWhoseDataOtherCentersKeepAreOfAnotherKind)
{
    const RouteRequest job;
    RouteRequest other = job;
    other.kept_in_bytes = {{"ctr_a", 1}};
    RouteRequest third = job;
    third.kept_in_bytes = {{"ctr_b", 1}};
    EXPECT_NE(kind_key(other), kind_key(job));
    EXPECT_NE(kind_key(third), kind_key(other));
}

TEST(RouteKindKey, JobsThatKeepAnotherShareOfAGpuAreOfAnotherKind)
{
    const RouteRequest job;
    RouteRequest other = job;
    other.gpu_shares = {{"ut_a", {.share = 0.5}}};
    RouteRequest third = job;
    third.gpu_shares = {{"ut_a", {.share = 0.6}}};
    EXPECT_NE(kind_key(other), kind_key(job));
    EXPECT_NE(kind_key(third), kind_key(other));
}

TEST(RouteKindKey, JobsThatPairsKnowByAnotherNameAreOfAnotherKind)
{
    const RouteRequest job;
    RouteRequest other = job;
    other.gpu_kind = "type:1";
    EXPECT_NE(kind_key(other), kind_key(job));
}

TEST(RouteKindKey, JobsWhoseEarlierRunsHadMoreOfAGpuAreOfAnotherKind)
{
    const RouteRequest job;
    RouteRequest other = job;
    other.learned_gpu_memory = {4, 0};
    RouteRequest third = job;
    third.learned_gpu_memory = {4, 1};
    EXPECT_NE(kind_key(other), kind_key(job));
    EXPECT_NE(kind_key(third), kind_key(other));
}

TEST(RouteKindKey, JobsThatFollowAnotherThresholdAreOfAnotherKind)
{
    const RouteRequest job;
    RouteRequest other = job;
    other.follows_gpu_threshold = true;
    EXPECT_NE(kind_key(other), kind_key(job));
    RouteRequest third = other;
    third.gpu_threshold = 2;
    EXPECT_NE(kind_key(third), kind_key(other));
}

TEST(RouteKindKey, JobsThatAskForAnotherTimeAreOfAnotherKind)
{
    const RouteRequest job;
    RouteRequest other = job;
    other.asked_s = 61;
    EXPECT_NE(kind_key(other), kind_key(job));
}

} // namespace
} // namespace fathom
