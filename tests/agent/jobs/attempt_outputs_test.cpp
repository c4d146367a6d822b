#include "agent/jobs/attempt_outputs.hpp"
#include "tests/agent/support/fake_executor.hpp"

#include <gmock/gmock.h>

namespace fathom::agent {
namespace {

using test::FakeExecutor;

class AttemptOutputsTest : public testing::Test {
  protected:
    AttemptId add(const std::string& written)
    {
        const AttemptId id = AttemptId::make();
        executor_.written[id] = written;
        outputs_.add(id, 0, 0);
        outputs_.note_written(id);
        return id;
    }

    static std::vector<AttemptId> attempts_of(const std::vector<link::Message>& messages)
    {
        std::vector<AttemptId> attempts;
        for (const link::Message& message : messages)
            attempts.push_back(std::get<link::AttemptOutput>(message.body).attempt_id);
        return attempts;
    }

    FakeExecutor executor_;
    AttemptOutputs outputs_{executor_};
};

TEST_F(AttemptOutputsTest, TakesTurnsSoThatANoisyAttemptHoldsUpNoOther)
{
    const std::string much(10 * link::kMaxOutputBytes, 'x');
    const AttemptId noisy = add(much);
    const AttemptId other = add(much);
    const AttemptId quiet = add("a line\n");

    EXPECT_THAT(attempts_of(outputs_.next(3)), testing::ElementsAre(noisy, other, quiet));
    EXPECT_THAT(attempts_of(outputs_.next(3)), testing::ElementsAre(noisy, other, noisy));
}

TEST_F(AttemptOutputsTest, SendsNothingBeforeTheStartIsToldHoweverEarlyItIsWritten)
{
    const AttemptId id = add("a line\n");
    outputs_.wait_for_start(id);
    EXPECT_TRUE(outputs_.next(100).empty());
    outputs_.connection_lost();
    outputs_.note_written(id);
    EXPECT_TRUE(outputs_.next(100).empty());

    outputs_.note_started(id);

    EXPECT_THAT(attempts_of(outputs_.next(100)), testing::ElementsAre(id));
}

TEST_F(AttemptOutputsTest, SendsTheRestWhenWhatTravelsIsAcknowledged)
{
    const AttemptId id = add(std::string(5 * link::kMaxOutputBytes, 'x'));
    const std::vector<link::Message> first = outputs_.next(100);
    EXPECT_EQ(first.size(), 4U) << "no more may travel at once";
    EXPECT_TRUE(outputs_.next(100).empty());

    EXPECT_EQ(outputs_.acknowledged(first[0].id), id);

    const std::vector<link::Message> second = outputs_.next(100);
    ASSERT_EQ(second.size(), 1U);
    EXPECT_FALSE(outputs_.is_done(id));
    for (const link::Message& piece : {first[1], first[2], first[3], second[0]})
        outputs_.acknowledged(piece.id);
    EXPECT_TRUE(outputs_.is_done(id));
    EXPECT_EQ(outputs_.acknowledged(second[0].id), std::nullopt) << "once only";
}

TEST_F(AttemptOutputsTest, OfAllTogetherNoMoreTravelsThanTheOtherEndKeeps)
{
    std::vector<AttemptId> noisy;
    for (int i = 0; i < 10; ++i)
        noisy.push_back(add(std::string(4 * link::kMaxOutputBytes, 'x')));
    const AttemptId ending = add("the last line\n");

    const std::vector<link::Message> first = outputs_.next(100);

    constexpr std::size_t kPieces = AttemptOutputs::kMaxTravellingBytes / link::kMaxOutputBytes;
    EXPECT_LE(first.size(), kPieces + 1) << "and a line";
    EXPECT_TRUE(outputs_.next(100).empty());
    executor_.written[ending] += "and one more\n";
    EXPECT_THAT(attempts_of(outputs_.next_of(ending)), testing::ElementsAre(ending)) << "goes before its end";
    for (int i = 7; i < 10; ++i)
        outputs_.next_of(noisy[static_cast<std::size_t>(i)]);
    EXPECT_TRUE(outputs_.next_of(noisy[0]).empty()) << "even before ends there is a bound";

    for (const link::Message& piece : first)
        outputs_.acknowledged(piece.id);

    EXPECT_FALSE(outputs_.next(100).empty());
}

TEST_F(AttemptOutputsTest, ManyLinesOfOthersLeaveRoomForThoseBeforeAnEnd)
{
    for (int i = 0; i < 300; ++i)
        add("a line\n");
    const AttemptId ending = add("the last line\n");

    EXPECT_EQ(outputs_.next(1000).size(), AttemptOutputs::kMaxTravelling);

    EXPECT_THAT(attempts_of(outputs_.next_of(ending)), testing::ElementsAre(ending));
}

TEST_F(AttemptOutputsTest, ReadsNoFileOfAnAttemptThatHasWrittenNothing)
{
    const AttemptId id = add("");
    EXPECT_TRUE(outputs_.next(100).empty());
    const int reads = executor_.reads;

    EXPECT_TRUE(outputs_.next(100).empty());
    EXPECT_EQ(executor_.reads, reads);
    executor_.written[id] = "now";
    outputs_.note_written(id);
    EXPECT_EQ(outputs_.next(100).size(), 1U);
}

TEST_F(AttemptOutputsTest, SendsAgainWhatTravelledWhenTheConnectionWasLost)
{
    const AttemptId id = add("a line\n");
    const std::vector<link::Message> lost = outputs_.next(100);
    ASSERT_EQ(lost.size(), 1U);

    outputs_.connection_lost();

    const std::vector<link::Message> again = outputs_.next(100);
    ASSERT_EQ(again.size(), 1U);
    EXPECT_EQ(outputs_.acknowledged(lost[0].id), std::nullopt) << "of the connection before";
    EXPECT_EQ(outputs_.acknowledged(again[0].id), id);
}

} // namespace
} // namespace fathom::agent
