#include "probes/profile/stand_ins.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace fathom::profile {
namespace {

OwnLoop loop_of(const std::string& id, double share, double similarity)
{
    OwnLoop loop;
    loop.operator_id = id;
    loop.stand_in = id;
    loop.stand_in_similarity = similarity;
    loop.share = share;
    loop.similarity = similarity;
    return loop;
}

double share_of(const std::vector<StandIn>& parts, const std::string& id, const std::string& remainder)
{
    double share = 0;
    for (const StandIn& part : parts)
        share += part.id == id && part.remainder == remainder ? part.share : 0;
    return share;
}

TEST(StandIns, AreATriadAndSinesWhereNoLoopIsKnown)
{
    const std::vector<StandIn> parts =
        stand_ins({.memory = 0.3, .compute = 0.5, .io = 0.1, .waiting = 0.1, .method = ""}, {});

    ASSERT_EQ(parts.size(), 4U);
    EXPECT_DOUBLE_EQ(share_of(parts, "stream_triad", "memory"), 0.3);
    EXPECT_DOUBLE_EQ(share_of(parts, "trigonometric", "compute"), 0.5);
    EXPECT_DOUBLE_EQ(share_of(parts, "file_read", "io"), 0.05);
    EXPECT_DOUBLE_EQ(parts[0].similarity, 1);
}

TEST(StandIns, AreTheOperatorsOfMatchedLoops)
{
    OwnCode code;
    code.loops = {loop_of("sort", 0.3, 0.9), loop_of("sort", 0.1, 0.7), loop_of("", 0.2, 0.5)};

    const std::vector<StandIn> parts =
        stand_ins({.memory = 0, .compute = 0.8, .io = 0, .waiting = 0.2, .method = ""}, code);

    ASSERT_EQ(parts.size(), 2U);
    EXPECT_EQ(parts[0].id, "sort");
    EXPECT_NEAR(parts[0].share, 0.4, 1e-12);
    EXPECT_NEAR(parts[0].similarity, 0.85, 1e-12); // by their shares
    EXPECT_EQ(parts[0].parameters, (Parameters{{"n", 32'768}}));
    EXPECT_NEAR(share_of(parts, "trigonometric", "compute"), 0.4, 1e-12);
    // Half of it is a loop that has a half in common with anything; the other half was not looked at.
    EXPECT_NEAR(parts[1].similarity, 0.75, 1e-12);
}

TEST(StandIns, OfWhatWaitsAreNotInDoubt)
{
    OwnCode code;
    code.loops = {loop_of("", 0.4, 0)};
    code.loops[0].mix.waits = 0.5;

    const std::vector<StandIn> parts =
        stand_ins({.memory = 0, .compute = 0.4, .io = 0, .waiting = 0.6, .method = ""}, code);

    ASSERT_EQ(parts.size(), 1U);
    EXPECT_DOUBLE_EQ(parts[0].similarity, 1);
}

TEST(StandIns, TakeLittleMoreMemoryThanATriad)
{
    OwnCode code;
    code.loops = {loop_of("random_access", 0.5, 0.9)};

    const std::vector<StandIn> parts =
        stand_ins({.memory = 0.5, .compute = 0, .io = 0, .waiting = 0.5, .method = ""}, code);

    ASSERT_EQ(parts.size(), 1U);
    EXPECT_LE(parts[0].parameters.at("n") * 64, 50'000'000); // lines of a cache
}

TEST(StandIns, AreWhatDevicesHaveToo)
{
    OwnCode code;
    code.loops = {loop_of("decompression", 0.4, 0.9)};
    code.loops[0].stand_in = "sort"; // the nearest of those that devices have
    code.loops[0].stand_in_similarity = 0.75;

    const std::vector<StandIn> parts =
        stand_ins({.memory = 0, .compute = 0.4, .io = 0, .waiting = 0.6, .method = ""}, code);

    ASSERT_EQ(parts.size(), 1U);
    EXPECT_EQ(parts[0].id, "sort");
    EXPECT_DOUBLE_EQ(parts[0].similarity, 0.75);
}

TEST(StandIns, KeepTheSharesOfMemoryAndCompute)
{
    OwnCode code;
    code.loops = {loop_of("spmv", 0.4, 0.8)};

    const std::vector<StandIn> parts =
        stand_ins({.memory = 0.2, .compute = 0.6, .io = 0, .waiting = 0.2, .method = ""}, code);

    EXPECT_NEAR(share_of(parts, "spmv", "memory"), 0.1, 1e-12);
    EXPECT_NEAR(share_of(parts, "spmv", "compute"), 0.3, 1e-12);
    EXPECT_NEAR(share_of(parts, "stream_triad", "memory"), 0.1, 1e-12);
    EXPECT_NEAR(share_of(parts, "trigonometric", "compute"), 0.3, 1e-12);
}

TEST(StandIns, AreNeverMoreThanAJobHasRoomFor)
{
    OwnCode code;
    for (const char* id : {"random_access", "sort", "spmv", "stream_triad", "trigonometric"})
        code.loops.push_back(loop_of(id, 0.1, 0.8));

    const std::vector<StandIn> parts =
        stand_ins({.memory = 0.4, .compute = 0.4, .io = 0.2, .waiting = 0, .method = ""}, code);

    EXPECT_LE(parts.size(), kMaxStandIns);
    double sum = 0;
    for (const StandIn& part : parts)
        sum += part.share;
    EXPECT_NEAR(sum, 1, 1e-9);
}

} // namespace
} // namespace fathom::profile
