// The memory manager where two may have the turn on a GPU at once.
#include "tests/agent/gpu/memory/two_at_once.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>

namespace fathom::gpu {
namespace {

TEST(GpuAtOnce, WhoComplementsTheOneThatHasTheTurnIsLetGoBesideIt)
{
    TwoAtOnce all;
    all.join(1, 4 * kOneMiB, 20 * kOneMiB, kClassMemory);
    all.join(2, 4 * kOneMiB, 20 * kOneMiB, kClassMemory);
    all.join(3, 4 * kOneMiB, 20 * kOneMiB, kClassCompute);
    all.want(2);
    EXPECT_EQ(all.heard_by(2), (Types{MessageType::kShared, MessageType::kPlace})) << "two of memory gain nothing";

    all.want(3);

    EXPECT_EQ(all.heard_by(3), (Types{MessageType::kShared, MessageType::kPlace, MessageType::kTurn}));
    EXPECT_TRUE(all.has_turn(1));
    EXPECT_TRUE(all.has_turn(3));
    EXPECT_FALSE(all.has_turn(2));
    all.pass(1.5); // the slice of the first is over, and the other's with it
    EXPECT_EQ(all.heard_by(1).back(), MessageType::kEndAfterIteration);
    EXPECT_EQ(all.heard_by(3), Types{MessageType::kEndAfterIteration});
    all.give_back(3);
    all.give_back(1);
    EXPECT_EQ(all.heard_by(2), Types{MessageType::kTurn});
}

TEST(GpuAtOnce, OneAloneHasTheTurnWhereTheCenterSaysNothing)
{
    TwoAtOnce all(1);
    all.join(1, 4 * kOneMiB, 20 * kOneMiB, kClassMemory);
    all.join(2, 4 * kOneMiB, 20 * kOneMiB, kClassCompute);
    all.want(2);

    EXPECT_FALSE(all.has_turn(2));
}

/// 50 + 20 MiB of temporary memory are not there at once.
TEST(GpuAtOnce, NobodyIsLetGoWhoseMemoryDoesNotFitBesideTheOthers)
{
    TwoAtOnce all;
    all.join(1, 4 * kOneMiB, 50 * kOneMiB, kClassMemory);
    all.join(2, 4 * kOneMiB, 20 * kOneMiB, kClassCompute);
    all.want(2);

    EXPECT_FALSE(all.has_turn(2));
}

TEST(GpuAtOnce, NobodyIsLetGoBesideWhoHasAHigherPriority)
{
    TwoAtOnce all;
    all.join(1, kOneMiB, kOneMiB, kClassMemory, 0, 5);
    all.join(2, kOneMiB, kOneMiB, kClassCompute);
    all.join(3, kOneMiB, kOneMiB, kClassCompute, 0, 5);
    all.want(2);
    EXPECT_FALSE(all.has_turn(2));
    all.want(3);
    EXPECT_TRUE(all.has_turn(3));
}

/// Growth that turns would have room for is no worse off since two have the turn at once.
TEST(GpuAtOnce, WhoNeedsMoreMemoryThanIsLeftBesideOthersGetsItOnceTheyTakeTurns)
{
    TwoAtOnce all;
    all.join(1, 4 * kOneMiB, 20 * kOneMiB, kClassMemory);
    all.join(2, 4 * kOneMiB, 20 * kOneMiB, kClassCompute);
    all.want(2);
    ASSERT_TRUE(all.has_turn(2));
    (void)all.heard_by(1);
    (void)all.heard_by(2);

    all.grow(1, MemoryKind::kTemporary, 30 * kOneMiB); // 8 + 50 + 20 of 64
    all.grow(1, MemoryKind::kTemporary, 30 * kOneMiB); // asked again

    EXPECT_EQ(all.heard_by(1), Types{});
    EXPECT_EQ(all.heard_by(2), Types{MessageType::kEndNow});
    all.give_back(2);
    all.want(2);
    EXPECT_EQ(all.heard_by(1), Types{MessageType::kGrown});
    EXPECT_EQ(all.gpu().temporary_bytes, 50 * kOneMiB);
    EXPECT_FALSE(all.has_turn(2)) << "there is no memory for both any longer";
    all.grow(1, MemoryKind::kTemporary, 30 * kOneMiB); // not even in turns
    EXPECT_EQ(all.heard_by(1), Types{MessageType::kRefused});
}

/// Who lies of what it needs does not end others' turns between kernels as often as it asks.
TEST(GpuAtOnce, WhoAsksForMoreAgainAndAgainForcesOthersNowAndThenOnly)
{
    TwoAtOnce all;
    all.join(1, 4 * kOneMiB, 20 * kOneMiB, kClassMemory);
    all.join(2, 4 * kOneMiB, 20 * kOneMiB, kClassCompute);
    int forced = 0;
    for (int i = 0; i < 40; ++i) {
        all.want(1);
        all.want(2);
        all.grow(1, MemoryKind::kTemporary, 30 * kOneMiB);
        const Types heard = all.heard_by(2);
        forced += static_cast<int>(std::count(heard.begin(), heard.end(), MessageType::kEndNow));
        all.give_back(2);
        // It says that it needs nothing of all that.
        all.leave(1);
        all.join(1, 4 * kOneMiB, 20 * kOneMiB, kClassMemory);
        all.pass(0.25);
    }
    EXPECT_GE(forced, 1);
    EXPECT_LE(forced, 3) << "in ten seconds";
}

TEST(GpuAtOnce, ANewcomerThatFitsWhereTurnsAreTakenIsAdmitted)
{
    TwoAtOnce all;
    all.join(1, 4 * kOneMiB, 25 * kOneMiB, kClassMemory);
    all.join(2, 4 * kOneMiB, 25 * kOneMiB, kClassCompute);
    all.want(2);
    ASSERT_TRUE(all.has_turn(2));

    all.join(3, 10 * kOneMiB, 0, kClassUnknown);

    EXPECT_EQ(all.heard_by(3), Types{});
    EXPECT_EQ(all.heard_by(2).back(), MessageType::kEndNow);
    all.give_back(2);
    EXPECT_EQ(all.heard_by(3), (Types{MessageType::kShared, MessageType::kPlace}));
}

/// Of the classes 1.3 was expected; each alone takes 0.1 s an iteration, beside the other 0.25.
TEST(GpuAtOnce, WhoDoLessTogetherThanInTurnsPartAndDoNotComeTogetherAgain)
{
    TwoAtOnce all;
    all.join(1, kOneMiB, kOneMiB, kClassMemory);
    all.iterate(1, 0.1, 20);
    all.leave(1);
    all.join(2, kOneMiB, kOneMiB, kClassCompute);
    all.iterate(2, 0.1, 20);
    all.join(1, kOneMiB, kOneMiB, kClassUnknown); // nothing is known of it: it waits
    all.want(1);
    ASSERT_FALSE(all.has_turn(1));
    all.pass(2);
    all.give_back(2);
    ASSERT_TRUE(all.has_turn(1));
    all.iterate(1, 0.1, 20);
    all.want(2); // of both the pace is known: tried
    ASSERT_TRUE(all.has_turn(2));
    (void)all.heard_by(1);
    (void)all.heard_by(2);

    all.iterate_both(0.25, 0.25, 6);

    const bool is_first_to_end = all.heard_by(1) == Types{MessageType::kEndAfterIteration};
    const bool is_second_to_end = all.heard_by(2) == Types{MessageType::kEndAfterIteration};
    ASSERT_NE(is_first_to_end, is_second_to_end);
    const ClientId parts = is_first_to_end ? 1 : 2;
    all.give_back(parts);
    all.want(parts);
    EXPECT_FALSE(all.has_turn(parts));
    EXPECT_TRUE(all.has_turn(3 - parts));
}

/// 0.7 and 0.6 of their paces, as the classes say.
TEST(GpuAtOnce, WhoDoMoreTogetherStayTogether)
{
    TwoAtOnce all;
    all.join(1, kOneMiB, kOneMiB, kClassMemory);
    all.iterate(1, 0.1, 20);
    all.join(2, kOneMiB, kOneMiB, kClassCompute);
    all.want(2);
    ASSERT_TRUE(all.has_turn(2));
    (void)all.heard_by(1);
    (void)all.heard_by(2);

    all.iterate_both(0.1 / 0.7, 0.1 / 0.6, 30);
    all.pass(100);

    EXPECT_EQ(all.heard_by(1), Types{});
    EXPECT_EQ(all.heard_by(2), Types{});
}

/// The first has its pace alone from a turn of its own after the other's.
TEST(GpuAtOnce, WhatTwoJobsKeepBesideEachOtherIsReported)
{
    TwoAtOnce all;
    all.join(1, kOneMiB, kOneMiB, kClassUnknown);
    all.iterate(1, 0.1, 20);
    all.join(2, kOneMiB, kOneMiB, kClassUnknown);
    all.want(2);
    all.pass(2);
    all.give_back(1);
    ASSERT_TRUE(all.has_turn(2));
    all.iterate(2, 0.1, 20);
    all.want(1);
    ASSERT_TRUE(all.has_turn(1)) << "of both the pace is known: tried";
    EXPECT_TRUE(all.pairs().empty());
    EXPECT_FALSE(all.gpu().jobs.at(0).kept_pace);

    all.iterate_both(0.1 / 0.8, 0.1 / 0.7, 10);

    const std::vector<MeasuredJobPair> pairs = all.pairs();
    ASSERT_EQ(pairs.size(), 1U);
    EXPECT_EQ(pairs[0].a.job, "job-1");
    EXPECT_EQ(pairs[0].b.job, "job-2");
    EXPECT_NEAR(pairs[0].a.kept_pace, 0.8, 0.01);
    EXPECT_NEAR(pairs[0].b.kept_pace, 0.7, 0.01);
    EXPECT_GT(pairs[0].count, 1);
    EXPECT_NEAR(all.gpu().jobs.at(0).kept_pace.value_or(0), 0.8, 0.01);
    all.leave(2);
    EXPECT_EQ(all.pairs(), pairs) << "the next report may come after its end";
}

/// It says what it is called: kind-1.
TEST(GpuAtOnce, HowManyIterationsOthersOfItsKindHadIsReported)
{
    TwoAtOnce all;
    all.join(1, kOneMiB, kOneMiB, kClassMemory);
    EXPECT_FALSE(all.gpu().jobs.at(0).expected_iterations);
    all.iterate(1, 0.1, 50);
    all.leave(1);

    all.join(1, kOneMiB, kOneMiB, kClassMemory);
    all.join(2, kOneMiB, kOneMiB, kClassUnknown);

    ASSERT_TRUE(all.gpu().jobs.at(0).expected_iterations);
    EXPECT_NEAR(all.gpu().jobs.at(0).expected_iterations->likely, 50, 1);
    EXPECT_EQ(all.gpu().jobs.at(0).expected_iterations->runs, 1);
    EXPECT_FALSE(all.gpu().jobs.at(1).expected_iterations) << "nobody says what it is called";
}

TEST(GpuAtOnce, OfOneThatWasThereBeforeItIsNotLearnedHowManyIterationsItHad)
{
    TwoAtOnce all;
    all.join(1, kOneMiB, kOneMiB, kClassMemory, kHadTurn);
    all.iterate(1, 0.1, 50);
    all.leave(1);

    all.join(1, kOneMiB, kOneMiB, kClassMemory);

    EXPECT_FALSE(all.gpu().jobs.at(0).expected_iterations) << "its first ones were counted by another manager";
}

/// They say what they are called: kind-1 and kind-2.
TEST(GpuAtOnce, WhatOtherCentersMeasuredDecidesWhoIsLetGo)
{
    TwoAtOnce all;
    all.know({{.a = "kind-1", .b = "kind-2", .a_share = 0.9, .b_share = 0.8, .count = 3}});
    all.join(1, kOneMiB, kOneMiB, kClassMemory);
    all.join(2, kOneMiB, kOneMiB, kClassMemory);

    all.want(2);

    EXPECT_TRUE(all.has_turn(2)) << "two of memory would take turns";
}

TEST(GpuAtOnce, BothKeepTheTurnOverANewManager)
{
    TwoAtOnce all(2, 1);
    all.join(1, kOneMiB, kOneMiB, kClassMemory, kHadTurn);
    all.join(2, kOneMiB, kOneMiB, kClassCompute, kHadTurn);
    all.join(3, kOneMiB, kOneMiB, kClassCompute, kHadMemory);
    all.want(3);
    all.pass(1);

    EXPECT_TRUE(all.has_turn(1));
    EXPECT_TRUE(all.has_turn(2));
    EXPECT_FALSE(all.has_turn(3));
    all.pass(2);
    EXPECT_EQ(all.heard_by(1).back(), MessageType::kEndAfterIteration);
    all.give_back(1);
    all.give_back(2);
    EXPECT_EQ(all.heard_by(3).back(), MessageType::kTurn);
}

/// Both had it, and only one may any longer.
TEST(GpuAtOnce, WhoMayNotKeepTheTurnOverANewManagerIsToldToEndIt)
{
    TwoAtOnce all(1, 1);
    all.join(1, kOneMiB, kOneMiB, kClassMemory, kHadTurn);
    all.join(2, kOneMiB, kOneMiB, kClassCompute, kHadTurn);
    all.pass(1);

    EXPECT_NE(all.has_turn(1), all.has_turn(2));
    const Types first = all.heard_by(1);
    const Types second = all.heard_by(2);
    EXPECT_EQ(std::count(first.begin(), first.end(), MessageType::kEndNow) +
                  std::count(second.begin(), second.end(), MessageType::kEndNow),
              1);
}

/// 4 + 40 + 40 of 64 MiB.
TEST(GpuAtOnce, NobodyKeepsTheTurnBesideOthersWhoseMemoryDoesNotFit)
{
    TwoAtOnce all(2, 1);
    all.join(1, 2 * kOneMiB, 40 * kOneMiB, kClassMemory, kHadTurn);
    all.join(2, 2 * kOneMiB, 40 * kOneMiB, kClassCompute, kHadTurn);
    all.pass(1);

    EXPECT_NE(all.has_turn(1), all.has_turn(2));
    EXPECT_EQ(all.heard_by(all.has_turn(1) ? 2 : 1).back(), MessageType::kEndNow);
}

TEST(GpuAtOnce, ASayingThatOneHadTheTurnLetsNobodyGoBesideOthersOnceTheStartIsOver)
{
    TwoAtOnce all;
    all.join(1, kOneMiB, kOneMiB, kClassMemory);
    all.join(2, kOneMiB, kOneMiB, kClassUnknown);
    all.join(3, kOneMiB, kOneMiB, kClassUnknown, kHadTurn);

    EXPECT_TRUE(all.has_turn(1));
    EXPECT_FALSE(all.has_turn(3));
    EXPECT_EQ(all.heard_by(3).back(), MessageType::kEndNow);
}

/// One question of each GPU waits, whatever numbers it has.
TEST(GpuAtOnce, ManyQuestionsForOnePlaceAreOne)
{
    TwoAtOnce all;
    all.join(1, 4 * kOneMiB, 25 * kOneMiB, kClassMemory);
    all.join(2, 4 * kOneMiB, 25 * kOneMiB, kClassCompute);
    all.want(2);
    ASSERT_TRUE(all.has_turn(2));
    all.join(3, 10 * kOneMiB, 0, kClassUnknown);
    for (int i = 1; i < 10; ++i)
        all.say(3, with_text({.type = MessageType::kUseGpu, .first = i, .second = 10 * kOneMiB}, kOneGpu));

    all.give_back(2);

    EXPECT_EQ(all.heard_by(3), (Types{MessageType::kShared, MessageType::kPlace}));
}

TEST(GpuAtOnce, WhatIsSaidOfAKindIsCheckedAndCountsForOnesOwnUserOnly)
{
    TwoAtOnce all;
    all.join(1, kOneMiB, kOneMiB, kClassMemory);
    all.join(2, kOneMiB, kOneMiB, 7);
    all.say(1, with_text({.type = MessageType::kKind, .first = kClassCompute}, "late"));
    all.join(3, kOneMiB, kOneMiB, kClassUnknown);
    all.want(2);
    all.want(3);

    EXPECT_FALSE(all.has_turn(2)) << "its class is none";
    EXPECT_FALSE(all.has_turn(3)) << "it said nothing";
    EXPECT_EQ(all.gpu().jobs.at(0).wrong_messages, 1);
    EXPECT_EQ(all.gpu().jobs.at(1).wrong_messages, 1);
}

/// Whatever programs send that had no memory before: no more have the turn than may, and their memory fits.
RC_GTEST_PROP(GpuAtOnceProperty, NoMessageLetsMoreGoThanMayOrThanMemoryIsFor, ())
{
    TwoAtOnce all(static_cast<std::size_t>(*rc::gen::inRange(2, 4)));
    const int steps = *rc::gen::inRange(1, 300);
    for (int step = 0; step < steps; ++step) {
        const auto id = static_cast<ClientId>(*rc::gen::inRange(1, 6));
        all.pass(*rc::gen::inRange(0, 20) / 10.0);
        switch (*rc::gen::inRange(0, 8)) {
        case 0:
        case 1:
            all.join(id, *rc::gen::inRange<std::int64_t>(0, 20) * kOneMiB,
                     *rc::gen::inRange<std::int64_t>(0, 40) * kOneMiB, *rc::gen::inRange<std::int64_t>(0, 3));
            break;
        case 2:
            all.leave(id);
            break;
        case 3:
            all.want(id);
            break;
        case 4:
            all.iterate(id, *rc::gen::element(0.05, 0.1, 0.3), *rc::gen::inRange(1, 30));
            break;
        default: {
            Message message;
            message.type = static_cast<MessageType>(*rc::gen::inRange(3, 13));
            message.first = *rc::gen::inRange<std::int64_t>(-1, 3);
            message.second = *rc::gen::inRange<std::int64_t>(-kOneMiB, 60 * kOneMiB);
            message.third = *rc::gen::inRange<std::int64_t>(-1, 40 * kOneMiB);
            all.say(id, with_text(message, kOneGpu));
        }
        }
        std::int64_t bytes = 0;
        std::int64_t turns = 0;
        const SharedGpu gpu = all.gpu();
        for (const SharedGpuJob& job : gpu.jobs) {
            bytes += job.persistent.room_bytes + (job.has_turn ? job.temporary.room_bytes : 0);
            turns += job.has_turn ? 1 : 0;
        }
        RC_ASSERT(bytes <= 64 * kOneMiB);
        RC_ASSERT(gpu.free_bytes >= 0);
        RC_ASSERT(turns <= 3);
        (void)all.heard_by(id);
    }
}

} // namespace
} // namespace fathom::gpu
