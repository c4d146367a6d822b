#include "core/decide/prediction/neighbours.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace fathom {
namespace {

/// As many times as long beside four cores.
LoadCurve curve(double factor)
{
    return {.copies = {{.copies = 5, .busy_cores = 4, .log_factor = std::log(factor), .deviation = 0, .run_count = 1}}};
}

TEST(Neighbours, ByHand)
{
    // 10 s, of which 6 take twice as long beside four cores, 3 have no curve, and 1 is start-up. Beside two cores the
    // curve says √2: 10 + 6 · 0.414 s.
    const LoadCurve memory = curve(2);
    const std::vector<ScaledPart> parts{{6, nullptr, &memory}, {3, nullptr, nullptr}};

    const RunTime run = beside_neighbours({10, 9, 11}, 10, parts, {.expected = 2, .most = 4});

    EXPECT_NEAR(run.run_s, 10 + 6 * (std::sqrt(2) - 1), 1e-9);
    EXPECT_EQ(run.low_s, 9) << "they may all have gone";
    EXPECT_NEAR(run.high_s, 11 * 1.6, 1e-9) << "or all be there";
}

TEST(Neighbours, OnSeveralUnitsTheSharesAreThoseOnOne)
{
    const LoadCurve memory = curve(2);
    const std::vector<ScaledPart> parts{{5, nullptr, &memory}};

    EXPECT_NEAR(beside_neighbours({4, 4, 4}, 10, parts, {.expected = 4, .most = 4}).run_s, 6, 1e-9);
}

TEST(Neighbours, WithoutACurveNothingChanges)
{
    const std::vector<ScaledPart> parts{{6, nullptr, nullptr}};
    EXPECT_FALSE(knows_neighbours(parts));

    const RunTime run = beside_neighbours({10, 9, 11}, 10, parts, {.expected = 4, .most = 4});
    EXPECT_EQ(run.run_s, 10);
    EXPECT_EQ(run.low_s, 9);
    EXPECT_EQ(run.high_s, 11);
}

TEST(Neighbours, AloneOnItsHostTheRunIsWhatItIsAlone)
{
    const LoadCurve memory = curve(2);
    const std::vector<ScaledPart> parts{{6, nullptr, &memory}};

    const RunTime run = beside_neighbours({10, 9, 11}, 10, parts, {});
    EXPECT_EQ(run.run_s, 10);
    EXPECT_EQ(run.high_s, 11);
}

} // namespace
} // namespace fathom
