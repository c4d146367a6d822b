// The golden scenario of spec 3, R9, row by row.
#include "core/decide/balance/unit_model.hpp"
#include "tests/core/decide/balance/closed_loop.hpp"

#include <gtest/gtest.h>

namespace fathom {
namespace {

/// A cluster of vGPUs of 100 TOPS at 1.0 GHz in int8; `link` is what its link can feed.
UnitModel cluster(double link_tops, double demand_tops = 1e9)
{
    return {.sub_unit_rate = 100,
            .base_clock_mhz = 1000,
            .base_precision = Precision::kInt8,
            .link_rate = link_tops,
            .demand_rate = demand_tops};
}

struct Row {
    double link_percent;
    double load_percent;
    double tops;
};

void expect_row(const UnitModel& model, double vgpus, double clock_mhz, const Row& row)
{
    const ModelState state = run_model(model, {.sub_units = vgpus, .clock_mhz = clock_mhz});
    EXPECT_DOUBLE_EQ(100 * state.occupancies.transfer, row.link_percent);
    EXPECT_NEAR(100 * state.occupancies.load, row.load_percent, 0.05);
    EXPECT_DOUBLE_EQ(state.rate, row.tops);
}

const UnitModel kOne = cluster(5'000);
const UnitModel kTwo = cluster(20'000);

TEST(BalanceGolden, SaturatedClustersBeforeAndAfterMovingFiftyAndRaisingTheClock)
{
    expect_row(kOne, 100, 1000, {100, 50, 5'000});
    expect_row(kTwo, 100, 1000, {50, 100, 10'000});
    expect_row(kOne, 50, 1000, {100, 100, 5'000});
    expect_row(kTwo, 150, 1000, {75, 100, 15'000});
    expect_row(kTwo, 150, 1100, {82.5, 100, 16'500});
}

TEST(BalanceGolden, ClusterOneGivesUpFiftyAndClusterTwoWantsAHundred)
{
    const ModelState one = run_model(kOne, {.sub_units = 100, .clock_mhz = 1000});
    const ModelState two = run_model(kTwo, {.sub_units = 100, .clock_mhz = 1000});

    EXPECT_EQ(wanted_sub_units(100, one.occupancies), 50) << "so it gives up 50";
    EXPECT_EQ(wanted_sub_units(100, two.occupancies), 200) << "so it asks for 100";
}

TEST(BalanceGolden, TheSumGrowsFrom15000To21500AndTopsPerWattByAThird)
{
    const ModelState one = run_model(kOne, {.sub_units = 100, .clock_mhz = 1000});
    const ModelState two = run_model(kTwo, {.sub_units = 100, .clock_mhz = 1000});
    const ModelState one_after = run_model(kOne, {.sub_units = 50, .clock_mhz = 1000});
    const ModelState two_after = run_model(kTwo, {.sub_units = 150, .clock_mhz = 1100});
    const double before = one.rate + two.rate;
    const double after = one_after.rate + two_after.rate;

    EXPECT_DOUBLE_EQ(before, 15'000);
    EXPECT_DOUBLE_EQ(after, 21'500);
    EXPECT_NEAR(100 * (after / before - 1), 43.3, 0.05);
    EXPECT_NEAR(100 * (after / (one_after.watts + two_after.watts) / (before / (one.watts + two.watts)) - 1), 33.3,
                0.05);
}

TEST(BalanceGolden, AtLowLoad)
{
    const UnitModel one = cluster(5'000, 2'500);
    const UnitModel two = cluster(20'000, 5'000);
    expect_row(one, 100, 1000, {50, 25, 2'500});
    expect_row(one, 50, 1000, {50, 50, 2'500});
    expect_row(two, 100, 1000, {25, 50, 5'000});
    expect_row(two, 150, 1000, {25, 33.3, 5'000});
    expect_row(two, 150, 1100, {27.5, 33.3, 5'500});
}

TEST(BalanceGolden, TwoLoopsThatPassSubUnitsToEachOtherComeTo21500)
{
    const GoldenEnd end = run_golden_scenario();

    EXPECT_EQ(end.sub_units_one, 50);
    EXPECT_EQ(end.sub_units_two, 150);
    EXPECT_EQ(end.clock_two_mhz, 1100);
    EXPECT_DOUBLE_EQ(end.tops, 21'500);
}

TEST(UnitModelPrecision, ShorterNumbersRaiseThePeakAsMuch)
{
    const ModelState coarse = run_model(kTwo, {.sub_units = 100, .clock_mhz = 1000, .precision = Precision::kInt4});
    const ModelState fine = run_model(kTwo, {.sub_units = 100, .clock_mhz = 1000, .precision = Precision::kFp32});

    EXPECT_DOUBLE_EQ(coarse.rate, 20'000);
    EXPECT_DOUBLE_EQ(coarse.occupancies.transfer, 1);
    EXPECT_DOUBLE_EQ(fine.rate, 2'500);
}

TEST(UnitModelDelay, ActionsTakeEffectAfterIt)
{
    DelayedPosition position({.sub_units = 1, .clock_mhz = 1000}, 2);
    const ModelPosition told{.sub_units = 5, .clock_mhz = 1000};
    position.advance(told);
    position.advance(told);
    EXPECT_EQ(position.in_effect().sub_units, 1);
    position.advance(told);
    EXPECT_EQ(position.in_effect().sub_units, 5);
}

} // namespace
} // namespace fathom
