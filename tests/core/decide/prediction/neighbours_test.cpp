#include "core/decide/prediction/neighbours.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
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

/// e^copies times as long beside four copies of itself, e^bubbles times beside four bubbles.
LoadCurve mixed(double copies, double bubbles, double own_pressure)
{
    LoadCurve curve{.copies = {{.copies = 5, .busy_cores = 4, .log_factor = copies, .deviation = 0, .run_count = 1}}};
    curve.bubbles = {{.copies = 5, .busy_cores = 4, .log_factor = bubbles, .deviation = 0, .run_count = 1}};
    curve.pressure = Pressure{own_pressure, 0.1, 1};
    return curve;
}

double log_factor(const LoadCurve& curve, double held_cores, double pressure)
{
    const std::vector<ScaledPart> parts{{10, nullptr, &curve}};
    const HeldCores held{.expected = held_cores, .most = held_cores, .pressure = pressure};
    return std::log(beside_neighbours({1, 1, 1}, 10, parts, held).run_s);
}

// What stays in its caches is slowed by its like, with whom it shares a core, and hardly by bubbles.
TEST(Neighbours, OfTheSamePressureCountAsCopies)
{
    const LoadCurve compute = mixed(0.4, 0.1, 0);
    EXPECT_NEAR(log_factor(compute, 4, 0), 0.4, 1e-9);
    EXPECT_NEAR(log_factor(compute, 4, 0.5), 0.25, 1e-9) << "half way to a bubble";
    EXPECT_NEAR(log_factor(compute, 4, 1), 0.1, 1e-9);
    EXPECT_NEAR(log_factor(compute, 2, 0), 0.2, 1e-9);

    const LoadCurve some = mixed(0.2, 0.3, 0.5);
    EXPECT_NEAR(log_factor(some, 4, 0.5), 0.2, 1e-9);
    EXPECT_NEAR(log_factor(some, 4, 0.75), 0.25, 1e-9);
    EXPECT_NEAR(log_factor(some, 4, 0), 0.1, 1e-9) << "what is shared without any pressure remains";
    EXPECT_NEAR(log_factor(some, 2, 2), 0.3, 1e-9) << "two of twice the pressure are four bubbles";

    const LoadCurve streaming = mixed(0.6, 0.6, 1);
    EXPECT_NEAR(log_factor(streaming, 4, 0.5), 0.3, 1e-9);
    EXPECT_NEAR(log_factor(streaming, 4, 0), 0, 1e-9);
}

TEST(Neighbours, AtTheMostAreCopiesOrBubblesWhicheverCostMore)
{
    for (const LoadCurve& curve : {mixed(std::log(2), 0.1, 0), mixed(0.1, std::log(2), 0)}) {
        const std::vector<ScaledPart> parts{{10, nullptr, &curve}};
        EXPECT_NEAR(beside_neighbours({10, 9, 11}, 10, parts, {.expected = 0, .most = 4}).high_s, 22, 1e-9);
    }
}

TEST(Neighbours, MoreOfThemNeverCostLessThanTheBoundSays)
{
    std::mt19937_64 random(7);
    const auto any = [&](double least, double most) { return std::uniform_real_distribution(least, most)(random); };
    for (int world = 0; world < 10'000; ++world) {
        LoadCurve curve = mixed(any(0, 0.5), any(0, 0.5), any(0, 2));
        const auto more = [&](const CopiesPoint& point) {
            return CopiesPoint{9, 8, point.log_factor + any(0, 0.5), 0, 1};
        };
        curve.copies.push_back(more(curve.copies[0]));
        curve.bubbles.push_back(more(curve.bubbles[0]));
        const std::vector<ScaledPart> parts{{10, nullptr, &curve}};
        const HeldCores held{.expected = any(0, 8), .most = 8, .pressure = any(0, 2)};
        const double expected = held.expected + any(0, 4);
        const double least_pressure = std::min(held.expected * held.pressure / expected, kMaxPressure);
        const HeldCores later{.expected = expected, .most = 12, .pressure = any(least_pressure, kMaxPressure)};

        EXPECT_LE(least_neighbour_factor(10, parts, held), beside_neighbours({1, 1, 1}, 10, parts, later).run_s + 1e-12)
            << "world " << world;
        EXPECT_LE(least_neighbour_factor(10, parts, held), beside_neighbours({1, 1, 1}, 10, parts, held).run_s + 1e-12);
    }
}

} // namespace
} // namespace fathom
