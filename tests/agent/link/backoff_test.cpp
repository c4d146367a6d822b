#include "agent/link/backoff.hpp"

#include <gtest/gtest.h>

namespace fathom::agent {
namespace {

using std::chrono::milliseconds;

constexpr BackoffPolicy kPolicy{milliseconds(500), milliseconds(15000), milliseconds(50)};

TEST(Backoff, DoublesTheLongestWaitWithEachFailure)
{
    EXPECT_EQ(backoff_delay(kPolicy, 1, 1.0), milliseconds(500));
    EXPECT_EQ(backoff_delay(kPolicy, 2, 1.0), milliseconds(1000));
    EXPECT_EQ(backoff_delay(kPolicy, 5, 1.0), milliseconds(8000));
}

TEST(Backoff, StaysBelowItsCapHoweverOftenItFails)
{
    for (const int failures : {6, 7, 40, 1000, 2'000'000'000}) {
        EXPECT_EQ(backoff_delay(kPolicy, failures, 1.0), milliseconds(15000)) << failures;
    }
}

TEST(Backoff, SpreadsOverTheWholeIntervalButNeverSpins)
{
    EXPECT_EQ(backoff_delay(kPolicy, 3, 0.5), milliseconds(1000));
    EXPECT_EQ(backoff_delay(kPolicy, 3, 0.0), milliseconds(50));
}

TEST(Backoff, TakesItsTimeAfterARefusal)
{
    EXPECT_GE(backoff_delay(kRefusedBackoff, 1, 0.0), std::chrono::seconds(30));
    EXPECT_EQ(backoff_delay(kRefusedBackoff, 20, 1.0), std::chrono::minutes(10));
}

} // namespace
} // namespace fathom::agent
