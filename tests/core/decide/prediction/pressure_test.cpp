// Pressure on memory: what operators and jobs make of it, and what it costs them (Bubble-Up).
#include "core/decide/prediction/neighbours.hpp"
#include "core/decide/prediction/pressure.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <vector>

namespace fathom {
namespace {

PressureResult told(const std::string& run, double reporter_beside, double reporter_beside_bubbles)
{
    return {run, {1.5, reporter_beside, reporter_beside_bubbles}};
}

TEST(Pressure, ByHand)
{
    // Bubbles double the reporter's time, the operator's copies make it e^0.07 times as long: λ = 0.0025 / 0.25 = 0.01.
    const double bubbles = std::log(2.0);
    const auto pressure = fit_pressure({told("r1", std::exp(0.07), 2)});

    ASSERT_TRUE(pressure);
    EXPECT_NEAR(pressure->per_core, (0.07 * bubbles + 0.005) / (bubbles * bubbles + 0.01), 1e-12);
    EXPECT_NEAR(pressure->deviation, 0.05 / std::sqrt(bubbles * bubbles + 0.01), 1e-12);
    EXPECT_EQ(pressure->run_count, 1);
}

TEST(Pressure, WhereBubblesCostNothingNothingIsLearned)
{
    const auto pressure = fit_pressure({told("r1", 1, 1), told("r2", 1.02, 0.98)});

    ASSERT_TRUE(pressure);
    EXPECT_EQ(pressure->per_core, kUsualPressure);
    EXPECT_NEAR(pressure->deviation, 0.5, 1e-12);
    EXPECT_EQ(pressure->run_count, 2);
}

TEST(Pressure, IsBoundedAndOfWhatCanBeOnly)
{
    EXPECT_EQ(fit_pressure({told("r1", 100, 1.5)})->per_core, kMaxPressure);
    EXPECT_NEAR(fit_pressure({told("r1", 0.8, 4)})->per_core, 0, 0.01) << "nobody makes memory faster";
    EXPECT_FALSE(fit_pressure({}));
    EXPECT_FALSE(fit_pressure({told("r1", 0, 2), told("r2", 1, std::numeric_limits<double>::infinity())}));
}

TEST(Pressure, SeveralSendingsTellMoreInAnyOrder)
{
    std::mt19937_64 random(3);
    std::normal_distribution<double> noise(0, 0.03);
    std::vector<PressureResult> results;
    for (int i = 0; i < 12; ++i) {
        const double bubbles = 0.2 + 0.1 * (i % 3);
        results.push_back(told("r" + std::to_string(i), std::exp(0.6 * bubbles + noise(random)), std::exp(bubbles)));
    }
    const auto pressure = fit_pressure(results);
    const auto first = fit_pressure({results.front()});
    std::shuffle(results.begin(), results.end(), random);

    EXPECT_NEAR(pressure->per_core, 0.6, 0.1);
    EXPECT_LT(pressure->deviation, first->deviation);
    EXPECT_EQ(pressure->run_count, 12);
    EXPECT_EQ(fit_pressure(results)->per_core, pressure->per_core) << "to the last bit";
}

TEST(MemoryUse, OfJobsThatHoldUnitsIsTheirMean)
{
    HeldMemory held;
    held.add({1, 0.2}, 3);
    held.add({0, 0.1}, 1);

    EXPECT_NEAR(held.mean(4).pressure, 0.75, 1e-12);
    EXPECT_NEAR(held.mean(4).sensitivity, 0.175, 1e-12);
    EXPECT_NEAR(held.mean(8).pressure, 0.5 * 0.75 + 0.5 * kUsualPressure, 1e-12) << "of half of them nobody knows";
    EXPECT_NEAR(held.mean(8).sensitivity, 0.0875, 1e-12);
    EXPECT_NEAR(held.mean(2).pressure, 0.75, 1e-12) << "some have gone";
    EXPECT_EQ(held.mean(0), MemoryUse{});
    EXPECT_EQ(HeldMemory{}.mean(4), MemoryUse{});
}

/// Twice as long beside four bubbles.
LoadCurve bubble_curve(double pressure)
{
    return {.bubbles = {{.copies = 5, .busy_cores = 4, .log_factor = std::log(2.0), .deviation = 0, .run_count = 1}},
            .pressure = Pressure{pressure, 0.1, 1}};
}

TEST(MemoryUse, OfAJobIsThatOfItsPartsByTheirTime)
{
    const LoadCurve streaming = bubble_curve(1);
    const LoadCurve unknown{.slope = 0.1, .largest_busy_cores = 4, .result_count = 9};
    const std::vector<ScaledPart> parts{{6, nullptr, &streaming}, {3, nullptr, &unknown}, {0, nullptr, nullptr}};

    const auto use = memory_use(10, parts);

    ASSERT_TRUE(use);
    EXPECT_NEAR(use->pressure, 0.6 * 1 + 0.4 * kUsualPressure, 1e-12);
    EXPECT_NEAR(use->sensitivity, 0.6 * std::log(2.0) / 4, 1e-12);
    EXPECT_FALSE(memory_use(10, std::vector<ScaledPart>{{3, nullptr, &unknown}})) << "no pressure is known";
    EXPECT_FALSE(memory_use(0, parts));
}

TEST(Neighbours, CountByTheirPressureWhereAJobWasMeasuredBesideBubbles)
{
    // Four cores of pressure ½ are two bubbles: √2 times as long.
    const LoadCurve streaming = bubble_curve(1);
    const std::vector<ScaledPart> parts{{10, nullptr, &streaming}};

    const RunTime beside = beside_neighbours({10, 9, 11}, 10, parts, {.expected = 4, .most = 4, .pressure = 0.5});
    EXPECT_NEAR(beside.run_s, 10 * std::sqrt(2), 1e-9);
    EXPECT_EQ(beside.low_s, 9);
    EXPECT_NEAR(beside.high_s, 22, 1e-9) << "all of them may become bubbles";

    EXPECT_NEAR(beside_neighbours({10, 9, 11}, 10, parts, {.expected = 4, .most = 4, .pressure = 0}).run_s, 10, 1e-9)
        << "they stay in their caches";
}

} // namespace
} // namespace fathom
