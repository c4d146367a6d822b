#include "core/base/log_limit.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <optional>

namespace fathom {
namespace {

TEST(LogLimiter, TellsHowManyLinesItLeftOut)
{
    using namespace std::chrono_literals;
    LogLimiter limiter;
    const auto start = std::chrono::steady_clock::now();

    EXPECT_EQ(limiter.take("flood", start), 0);
    for (int i = 0; i < 1000; ++i)
        EXPECT_EQ(limiter.take("flood", start + 1s), std::nullopt);
    EXPECT_EQ(limiter.take("other", start + 1s), 0);

    EXPECT_EQ(limiter.take("flood", start + 10s), 1000);
    EXPECT_EQ(limiter.take("flood", start + 20s), 0);
}

} // namespace
} // namespace fathom
