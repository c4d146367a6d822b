#include "server/store/steady_age.hpp"

#include <gtest/gtest.h>

namespace fathom::server {
namespace {

using namespace std::chrono_literals;

/// A database's clock and the machine's, which go on together until a test moves the one.
class SteadyAgeTest : public testing::Test {
  protected:
    /// Looks every ten minutes for so long; the last answer.
    Timestamp pass(std::chrono::minutes time)
    {
        Timestamp before = look();
        for (std::chrono::minutes passed = 0min; passed < time; passed += 10min) {
            steady_ += 10min;
            database_ += 10min;
            before = look();
        }
        return before;
    }
    Timestamp look() { return age_.look(database_, steady_); }

    SteadyAge age_{24h};
    Timestamp database_ = parse_rfc3339("2026-11-29T00:00:00Z").value();
    SteadyAge::SteadyTime steady_{};
};

TEST_F(SteadyAgeTest, IsTheDayBeforeWhileBothClocksGoTogether)
{
    EXPECT_EQ(look(), database_ - 24h) << "from the first look on";
    EXPECT_EQ(pass(12h), database_ - 24h);
    EXPECT_EQ(pass(72h), database_ - 24h);
}

TEST_F(SteadyAgeTest, RowsOfBeforeAJumpAheadGetTheirWholeDay)
{
    pass(12h);
    const Timestamp written = database_;
    database_ += 48h;

    EXPECT_LE(look(), written);
    EXPECT_LE(pass(23h), written);
    EXPECT_GT(pass(2h), written);
    EXPECT_EQ(pass(1h), database_ - 24h) << "as if nothing had been";
}

TEST_F(SteadyAgeTest, RowsThatWereWrittenWhileTheClockWasBackGetTheirWholeDay)
{
    pass(12h);
    database_ -= 48h;
    pass(1h);
    const Timestamp written = database_;
    pass(1h);
    database_ += 48h;

    EXPECT_LE(pass(22h), written);
    EXPECT_GT(pass(2h), written);
}

TEST_F(SteadyAgeTest, RowsThatWereWrittenJustAfterTheClockWentBackGetTheirWholeDay)
{
    pass(12h);
    database_ -= 48h; // between two looks
    const Timestamp written = database_ + 1min;
    database_ += 10min;
    steady_ += 10min;

    EXPECT_LE(look(), written);
    EXPECT_LE(pass(23h), written);
    EXPECT_GT(pass(2h), written);
}

TEST_F(SteadyAgeTest, ALongPauseBetweenTwoLooksIsTime)
{
    pass(12h);
    steady_ += 72h;
    database_ += 72h;

    EXPECT_EQ(look(), database_ - 72h) << "the last look that was a day ago";
    EXPECT_EQ(pass(24h), database_ - 24h);
}

} // namespace
} // namespace fathom::server
