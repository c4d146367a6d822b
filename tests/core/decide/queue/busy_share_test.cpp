#include "core/decide/queue/busy_share.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace fathom {
namespace {

TEST(BusyShare, IsFullUntilItIsKnown)
{
    BusyShare share;
    EXPECT_DOUBLE_EQ(share.mean(), 1);
    share.note(0.25, 0);
    share.note(0.25, -5);
    EXPECT_DOUBLE_EQ(share.mean(), 1) << "no time has passed";
}

// After a day 1/e of what was is left: 0.25 + 0.75 / e.
TEST(BusyShare, ForgetsByTheDay)
{
    BusyShare share;
    share.note(0.25, 43'200);
    share.note(0.25, 43'200);
    EXPECT_NEAR(share.mean(), 0.25 + 0.75 / std::exp(1), 1e-12) << "looking twice does not change it";
    share.note(3, 100 * 86'400.0);
    EXPECT_NEAR(share.mean(), 1, 1e-12) << "never more than all";
}

} // namespace
} // namespace fathom
