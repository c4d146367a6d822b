#include "core/decide/probing/copies_plan.hpp"

#include <gtest/gtest.h>

namespace fathom {
namespace {

using Counts = std::vector<std::int64_t>;

TEST(CopiesPlan, AllUnitsThenTwoThenHalfWay)
{
    EXPECT_EQ(plan_copies(16, 64), (Counts{16, 2, 9}));
    EXPECT_EQ(plan_copies(4, 64), (Counts{4, 2, 3}));
    EXPECT_EQ(plan_copies(3, 64), (Counts{3, 2}));
    EXPECT_EQ(plan_copies(2, 64), (Counts{2}));
}

TEST(CopiesPlan, NoMoreThanAProbeHasAndNoFewerThanTwo)
{
    EXPECT_EQ(plan_copies(1000, 64), (Counts{64, 2, 33}));
    EXPECT_EQ(plan_copies(1, 64), (Counts{2}));
    EXPECT_EQ(plan_copies(0, 64), (Counts{2}));
}

TEST(CopiesPlan, MayTakeLongerThanTheTaskByItself)
{
    EXPECT_EQ(copies_limit_s(10), 30);
    EXPECT_EQ(copies_limit_s(3000), 3600) << "which is all that a task may ask for";
}

} // namespace
} // namespace fathom
