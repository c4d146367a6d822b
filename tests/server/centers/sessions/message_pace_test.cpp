#include "server/centers/sessions/message_pace.hpp"

#include <gtest/gtest.h>

namespace fathom::server {
namespace {

using namespace std::chrono_literals;

constexpr MessagePace::SteadyTime kPaceBegin{1h};

TEST(MessagePace, LetsSomeThroughInARowThenOneInEachPause)
{
    MessagePace pace(2, 100ms);

    EXPECT_EQ(pace.take(kPaceBegin), 0ms);
    EXPECT_EQ(pace.take(kPaceBegin), 0ms);
    EXPECT_EQ(pace.take(kPaceBegin), 100ms);
    EXPECT_EQ(pace.take(kPaceBegin), 200ms);
}

TEST(MessagePace, HasAllItsRoomAgainAfterARestAndNoMore)
{
    MessagePace pace(2, 100ms);
    for (int i = 0; i < 3; ++i)
        pace.take(kPaceBegin);

    EXPECT_EQ(pace.take(kPaceBegin + 10s), 0ms);
    EXPECT_EQ(pace.take(kPaceBegin + 10s), 0ms);
    EXPECT_EQ(pace.take(kPaceBegin + 10s), 100ms);
}

} // namespace
} // namespace fathom::server
