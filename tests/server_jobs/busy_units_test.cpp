#include "server/routing/busy_units.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace fathom::server {
namespace {

using namespace std::chrono_literals;

constexpr Timestamp kStart{std::chrono::sys_days{std::chrono::year{2026} / 11 / 20}};

TEST(BusyUnits, SayNothingBeforeTheyWereLookedAtTwice)
{
    BusyUnits busy;
    EXPECT_EQ(busy.load("a"), 1);
    busy.note(std::vector<BusyUnits::Left>{{"a", 0, 4}}, kStart);
    EXPECT_EQ(busy.load("a"), 1);
}

// What a look leaves lasts until the next; after t of one share s the load is s + (1 − s) · e^(−t / 1 day).
TEST(BusyUnits, RememberADay)
{
    BusyUnits busy;
    for (int hour = 0; hour <= 24; ++hour)
        busy.note(std::vector<BusyUnits::Left>{{"a", 0, 4}, {"b", 1, 4}, {"c", 9, 4}}, kStart + hour * 1h);

    EXPECT_NEAR(busy.load("a"), std::exp(-1), 1e-9);
    EXPECT_NEAR(busy.load("b"), 0.25 + 0.75 * std::exp(-1), 1e-9);
    EXPECT_EQ(busy.load("c"), 1) << "a center that shrank below what runs";
}

TEST(BusyUnits, ALongGapCountsAsAnHour)
{
    BusyUnits busy;
    busy.note(std::vector<BusyUnits::Left>{{"a", 0, 4}}, kStart);
    busy.note(std::vector<BusyUnits::Left>{{"a", 0, 4}}, kStart + 240h);
    EXPECT_NEAR(busy.load("a"), std::exp(-1.0 / 24), 1e-9);

    busy.note(std::vector<BusyUnits::Left>{{"a", 0, 4}}, kStart);
    EXPECT_NEAR(busy.load("a"), std::exp(-1.0 / 24), 1e-9) << "the clock was set back";
}

TEST(BusyUnits, TimeInWhichAUnitTypeIsClosedDoesNotCount)
{
    BusyUnits busy;
    busy.note(std::vector<BusyUnits::Left>{{"a", 0, 4}}, kStart);
    busy.note(std::vector<BusyUnits::Left>{{"a", 0, 0}}, kStart + 1h);
    busy.note(std::vector<BusyUnits::Left>{{"a", 0, 4}}, kStart + 2h);
    EXPECT_NEAR(busy.load("a"), std::exp(-1.0 / 24), 1e-9);

    busy.note({}, kStart + 3h);
    EXPECT_EQ(busy.load("a"), 1) << "it is gone";
}

} // namespace
} // namespace fathom::server
