#include "agent/link/balance_outbox.hpp"

#include <gtest/gtest.h>

namespace fathom::agent {
namespace {

using namespace std::chrono_literals;

/// Steps of these numbers.
std::vector<BalanceStep> steps_of(std::int64_t from, std::int64_t to)
{
    std::vector<BalanceStep> steps;
    for (std::int64_t number = from; number <= to; ++number)
        steps.push_back({.at = Timestamp(std::chrono::seconds(number)), .unit = "gpu0", .outcome = "in_band"});
    return steps;
}

std::int64_t number_of(const BalanceStep& step)
{
    return std::chrono::duration_cast<std::chrono::seconds>(step.at.time_since_epoch()).count();
}

link::Welcome welcome(std::int64_t steps, double pause_s = 0)
{
    link::Welcome welcome;
    welcome.balance_steps = steps;
    welcome.balance_pause_s = pause_s;
    return welcome;
}

class BalanceOutboxTest : public testing::Test {
  protected:
    /// The numbers of the first and last step of the next message; acknowledged at once unless it shall not be.
    std::optional<std::pair<std::int64_t, std::int64_t>> next(bool is_acknowledged = true)
    {
        const std::optional<link::Message> message = outbox_.next(now_);
        if (!message) return std::nullopt;
        told_ = std::get<BalanceSteps>(message->body);
        last_ = message->id;
        if (is_acknowledged) outbox_.acknowledged({last_, std::nullopt});
        return std::pair(number_of(told_.steps.front()), number_of(told_.steps.back()));
    }

    BalanceOutbox outbox_{10};
    SteadyTime now_{};
    BalanceSteps told_;
    MessageId last_;
};

TEST_F(BalanceOutboxTest, TellsNothingToAServerThatDoesNotAsk)
{
    outbox_.add(steps_of(1, 3));
    EXPECT_FALSE(next()) << "no connection";
    outbox_.connected(welcome(0));
    EXPECT_FALSE(next()) << "an older server";
    outbox_.connected(welcome(2));
    EXPECT_EQ(next(), std::pair(1L, 2L));
    EXPECT_EQ(next(), std::pair(3L, 3L));
    EXPECT_FALSE(next());
}

TEST_F(BalanceOutboxTest, WaitsForTheAcknowledgementAndForThePauseThatTheServerSets)
{
    outbox_.connected(welcome(2, 1.5));
    outbox_.add(steps_of(1, 5));
    EXPECT_EQ(next(false), std::pair(1L, 2L));
    now_ += 10s;
    EXPECT_FALSE(next()) << "not acknowledged";
    outbox_.acknowledged({MessageId::make(), std::nullopt});
    EXPECT_FALSE(next()) << "another message was";
    outbox_.acknowledged({last_, std::nullopt});
    EXPECT_EQ(next(), std::pair(3L, 4L));
    now_ += 1400ms;
    EXPECT_FALSE(next()) << "the pause is not over";
    now_ += 200ms;
    EXPECT_EQ(next(), std::pair(5L, 5L));
}

TEST_F(BalanceOutboxTest, DropsTheOldestFirstAndSaysHowMany)
{
    outbox_.add(steps_of(1, 25));
    EXPECT_EQ(outbox_.waiting_count(), 10U);
    outbox_.connected(welcome(4));
    EXPECT_EQ(next(), std::pair(16L, 19L));
    EXPECT_EQ(told_.dropped_count, 15);
    EXPECT_EQ(next(), std::pair(20L, 23L));
    EXPECT_EQ(told_.dropped_count, 0) << "told before";
}

TEST_F(BalanceOutboxTest, SendsAgainAfterAReconnectWhatWasNotAcknowledged)
{
    outbox_.connected(welcome(4));
    outbox_.add(steps_of(1, 6));
    EXPECT_EQ(next(false), std::pair(1L, 4L));
    outbox_.disconnected();
    outbox_.add(steps_of(7, 12));
    EXPECT_FALSE(next());
    outbox_.connected(welcome(4));
    EXPECT_EQ(next(), std::pair(3L, 6L)) << "1 and 2 made room";
    EXPECT_EQ(told_.dropped_count, 2);
}

TEST_F(BalanceOutboxTest, DoesNotRepeatWhatWasRefused)
{
    outbox_.connected(welcome(4));
    outbox_.add(steps_of(1, 6));
    EXPECT_EQ(next(false), std::pair(1L, 4L));
    outbox_.acknowledged({last_, Error{Errc::kInvalid, "too many"}});
    EXPECT_EQ(next(), std::pair(5L, 6L));
}

} // namespace
} // namespace fathom::agent
