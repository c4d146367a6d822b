#include "agent/jobs/type_queues.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace fathom::agent {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;

class TypeQueuesTest : public ::testing::Test {
  protected:
    TypeQueuesTest() { queues_.keep_only({"quad"}); }

    void note(std::optional<std::chrono::seconds> wait)
    {
        queue_.expected_start = wait ? std::optional(now_ + *wait) : std::nullopt;
        queues_.note(queue_, now_);
    }

    TypeQueues queues_;
    Timestamp now_{20'000h};
    TypeQueue queue_{.unit_type = "quad", .expected_start = std::nullopt};
};

TEST_F(TypeQueuesTest, WhatIsHeardFirstIsToldOnce)
{
    note(1h);
    EXPECT_THAT(queues_.news(), ElementsAre(queue_));
    EXPECT_THAT(queues_.news(), IsEmpty());
}

TEST_F(TypeQueuesTest, AWaitIsToldAgainWhenItIsAFifthOther)
{
    note(1h);
    queues_.news();
    note(1h + 11min);
    EXPECT_THAT(queues_.news(), IsEmpty());
    note(1h + 12min);
    EXPECT_THAT(queues_.news(), ElementsAre(queue_));
    now_ += 15min; // the same start is nearer now
    queues_.note(queue_, now_);
    EXPECT_THAT(queues_.news(), ElementsAre(queue_));
}

TEST_F(TypeQueuesTest, AShortWaitIsToldAgainWhenItIsAMinuteOther)
{
    note(30s);
    queues_.news();
    note(80s);
    EXPECT_THAT(queues_.news(), IsEmpty());
    note(90s);
    EXPECT_THAT(queues_.news(), ElementsAre(queue_));
}

TEST_F(TypeQueuesTest, WhetherThereIsAnyIsAlwaysTold)
{
    note(30s);
    queues_.news();
    note(2s);
    EXPECT_THAT(queues_.news(), ElementsAre(queue_));
    note(-10s);
    EXPECT_THAT(queues_.news(), IsEmpty()) << "still none";
    note(6s);
    EXPECT_THAT(queues_.news(), ElementsAre(queue_));
    note(std::nullopt);
    EXPECT_THAT(queues_.news(), ElementsAre(queue_)) << "the batch system says nothing any more";
}

TEST_F(TypeQueuesTest, AllIsToldAgainToANewServer)
{
    note(1h);
    queues_.news();
    note(1h + 1min);
    queues_.tell_again();
    EXPECT_THAT(queues_.news(), ElementsAre(queue_)) << "as it stands now";
}

TEST_F(TypeQueuesTest, AUnitTypeThatIsGoneIsForgotten)
{
    note(1h);
    queues_.keep_only({"quad", "pair"});
    EXPECT_THAT(queues_.news(), ElementsAre(queue_)) << "what stays is not told twice, nor lost";
    queues_.keep_only({"pair"});
    note(2h);
    queues_.tell_again();
    EXPECT_THAT(queues_.news(), IsEmpty()) << "not even what was asked for before it went";
}

} // namespace
} // namespace fathom::agent
