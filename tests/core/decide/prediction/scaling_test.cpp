#include "core/decide/prediction/scaling.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <random>

namespace fathom {
namespace {

using testing::ElementsAre;

constexpr std::array<double, 7> kCounts{1, 2, 4, 8, 16, 32, 64};

std::vector<ScalingPoint> measure(const ScalingFit& truth, double noise = 0, unsigned seed = 1)
{
    std::mt19937_64 random(seed);
    std::normal_distribution<double> normal;
    std::vector<ScalingPoint> points;
    for (const double n : kCounts)
        points.push_back({n, truth.rate(n) * std::exp(noise * normal(random))});
    return points;
}

/// t = 0.9/n + 0.1 and so on: the exact curves of the models.
const std::vector<ScalingFit>& exact_curves()
{
    static const std::vector<ScalingFit> curves{
        {ScalingModel::kAmdahl, {0.95, 0.05}},        {ScalingModel::kAmdahl, {1, 0}},
        {ScalingModel::kGustafson, {0.3, 0.7}},       {ScalingModel::kUniversal, {1, 0.02, 0.0005}},
        {ScalingModel::kNormalForm, {2, 3, -0.5, 0}}, {ScalingModel::kNormalForm, {5, -0.4, 0, 1}}};
    return curves;
}

TEST(Scaling, ExactCurvesAreRecovered)
{
    for (const ScalingFit& truth : exact_curves()) {
        SCOPED_TRACE(std::string(to_string(truth.model)));
        const Result<ScalingCurve> curve = fit_scaling(measure(truth), ScalingMode::kStrong);
        ASSERT_TRUE(curve) << describe(curve.error());
        EXPECT_LT(curve->models.front().error, 1e-6);
        for (const double n : {1.0, 3.0, 24.0, 64.0, 100.0, 128.0})
            EXPECT_NEAR(curve->rate(n).rate / truth.rate(n), 1, 1e-6) << n;
    }
}

TEST(Scaling, TheSimplestOfEquallyGoodModelsIsTaken)
{
    // USL without coherence is Amdahl's law.
    const ScalingCurve curve = fit_scaling(measure({ScalingModel::kAmdahl, {0.9, 0.1}}), ScalingMode::kStrong).value();

    EXPECT_EQ(curve.models.front().fit.model, ScalingModel::kAmdahl);
    EXPECT_NEAR(curve.models.front().fit.coefficients[0], 0.9, 1e-9);
    EXPECT_NEAR(curve.models.front().fit.coefficients[1], 0.1, 1e-9);
}

TEST(Scaling, UnitsOfTheRateDoNotMatter)
{
    std::vector<ScalingPoint> points = measure({ScalingModel::kUniversal, {1, 0.02, 0.0005}}, 0.02);
    const ScalingCurve one = fit_scaling(points, ScalingMode::kStrong).value();
    for (ScalingPoint& point : points)
        point.rate *= 1e12;
    const ScalingCurve other = fit_scaling(points, ScalingMode::kStrong).value();

    EXPECT_EQ(one.models.front().fit.model, other.models.front().fit.model);
    EXPECT_NEAR(other.rate(48).rate / one.rate(48).rate, 1e12, 1e6);
}

TEST(Scaling, NoisyCurvesLieInsideTheirIntervals)
{
    // Intervals are for what would be measured (ScalingInterval.*): they hold the truth, without noise, more often.
    constexpr double kNoise = 0.03;
    int inside = 0;
    int all = 0;
    double half_widths = 0;
    for (const ScalingFit& truth : exact_curves()) {
        for (unsigned seed = 1; seed <= 40; ++seed) {
            const ScalingCurve curve = fit_scaling(measure(truth, kNoise, seed), ScalingMode::kStrong).value();
            for (const double n : {3.0, 6.0, 12.0, 24.0, 48.0}) {
                const RateEstimate estimate = curve.rate(n);
                ++all;
                half_widths += std::log(estimate.high / estimate.low) / 2;
                if (estimate.low <= truth.rate(n) && truth.rate(n) <= estimate.high) ++inside;
            }
        }
    }
    EXPECT_GT(inside, all * 8 / 10);
    EXPECT_LT(half_widths / all, 2 * kNoise);
}

TEST(Scaling, EfficiencyOfAmdahlsLaw)
{
    // One tenth is serial: E(10) = 1 / (10·0.1 + 0.9) = 0.526.
    const ScalingCurve curve = fit_scaling(measure({ScalingModel::kAmdahl, {0.9, 0.1}}), ScalingMode::kStrong).value();

    EXPECT_NEAR(curve.efficiency(1), 1, 1e-9);
    EXPECT_NEAR(curve.efficiency(10), 1 / 1.9, 1e-9);
}

TEST(Scaling, KneeOfAmdahlsLawIsWhereHalfOfTheTimeIsSerial)
{
    // S(n)²/n with S = n / (s·n + 1 − s) is largest at n = (1 − s)/s: 9 for a tenth, 19 for a twentieth.
    const auto curve = [](double serial) {
        return fit_scaling(measure({ScalingModel::kAmdahl, {1 - serial, serial}}), ScalingMode::kStrong).value();
    };
    EXPECT_EQ(knee(curve(0.1), 1000), 9);
    EXPECT_EQ(knee(curve(0.05), 1000), 19);
    EXPECT_EQ(knee(curve(0.05), 8), 8) << "no more than asked for";
    EXPECT_EQ(knee(curve(0), 1000), 128) << "never beyond twice what was measured";
}

TEST(Scaling, SaysWhenItExtrapolates)
{
    const ScalingCurve curve = fit_scaling(measure({ScalingModel::kAmdahl, {0.9, 0.1}}), ScalingMode::kStrong).value();

    EXPECT_FALSE(curve.rate(64).is_extrapolated);
    EXPECT_FALSE(curve.rate(128).is_extrapolated);
    EXPECT_TRUE(curve.rate(129).is_extrapolated);
}

TEST(Scaling, TwoCountsAreEnoughForAGuess)
{
    const Result<ScalingCurve> curve =
        fit_scaling(std::vector<ScalingPoint>{{1, 10}, {4, 30}}, ScalingMode::kThroughput);

    ASSERT_TRUE(curve);
    EXPECT_NEAR(curve->rate(4).rate, 30, 1e-6);
    EXPECT_FALSE(curve->half_interval);
    EXPECT_EQ(curve->rate(2).low, curve->rate(2).rate);
}

TEST(Scaling, RefusesWhatIsNoCurve)
{
    EXPECT_FALSE(fit_scaling(std::vector<ScalingPoint>{}, ScalingMode::kStrong));
    EXPECT_FALSE(fit_scaling(std::vector<ScalingPoint>{{1, 10}, {1, 11}}, ScalingMode::kStrong));
    EXPECT_FALSE(fit_scaling(std::vector<ScalingPoint>{{1, 10}, {2, 0}}, ScalingMode::kStrong));
    EXPECT_FALSE(fit_scaling(std::vector<ScalingPoint>{{0, 10}, {2, 1}}, ScalingMode::kStrong));
    EXPECT_FALSE(fit_scaling(std::vector<ScalingPoint>{{1, std::nan("")}, {2, 1}}, ScalingMode::kStrong));
}

TEST(ScalingCounts, SpreadOverTheRange)
{
    EXPECT_THAT(scaling_counts(64, 7), ElementsAre(1, 2, 4, 8, 16, 32, 64));
    EXPECT_THAT(scaling_counts(100, 5), ElementsAre(1, 3, 10, 32, 100));
    EXPECT_THAT(scaling_counts(4, 5), ElementsAre(1, 2, 3, 4));
    EXPECT_THAT(scaling_counts(1, 5), ElementsAre(1));
    EXPECT_THAT(scaling_counts(6, 5), ElementsAre(1, 2, 3, 4, 6));
}

TEST(MostTellingCount, IsWhereModelsDisagree)
{
    // Three points up to 4 cannot tell saturation from linear growth; 64 can.
    const ScalingCurve curve =
        fit_scaling(std::vector<ScalingPoint>{{1, 1}, {2, 1.9}, {3, 2.7}, {4, 3.5}}, ScalingMode::kStrong).value();
    const std::vector<std::int64_t> candidates{5, 8, 16, 64};

    EXPECT_EQ(most_telling_count(curve, candidates), 64);
}

const std::vector<std::int64_t> kScaledTo{1, 2, 4, 8, 16};

/// Amdahl's law with a serial share, and every second point off by `noise`.
ScalingCurve noisy_curve(double serial, double noise)
{
    std::vector<ScalingPoint> points;
    double sign = 1;
    for (const std::int64_t n : kScaledTo) {
        const auto count = static_cast<double>(n);
        points.push_back({count, (1 + sign * noise) / (serial + (1 - serial) / count)});
        sign = -sign;
    }
    return fit_scaling(points, ScalingMode::kStrong).value();
}

TEST(NextScalingCount, AnExactCurveNeedsNoMore)
{
    EXPECT_EQ(next_scaling_count(std::vector{noisy_curve(0.05, 0)}, 16, kScaledTo), std::nullopt);
}

TEST(NextScalingCount, AnOpenCurveGetsACountThatWasNotMeasured)
{
    const std::optional<std::int64_t> count = next_scaling_count(std::vector{noisy_curve(0.05, 0.3)}, 16, kScaledTo);

    ASSERT_TRUE(count);
    EXPECT_EQ(std::count(kScaledTo.begin(), kScaledTo.end(), *count), 0);
    EXPECT_GE(*count, 1);
    EXPECT_LE(*count, 16);
}

TEST(NextScalingCount, WhereEveryCountWasMeasuredNothingIsLeft)
{
    const std::vector<std::int64_t> all{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};
    EXPECT_EQ(next_scaling_count(std::vector{noisy_curve(0.05, 0.3)}, 16, all), std::nullopt);
}

RC_GTEST_PROP(ScalingProperty, OrderOfPointsDoesNotMatterAndRatesStayPositive, ())
{
    std::vector<ScalingPoint> points;
    for (const double n : kCounts)
        points.push_back({n, *rc::gen::inRange(1, 1'000'000) / 1000.0});
    std::vector<ScalingPoint> reversed(points.rbegin(), points.rend());
    const ScalingCurve curve = fit_scaling(points, ScalingMode::kStrong).value();
    const ScalingCurve other = fit_scaling(reversed, ScalingMode::kStrong).value();

    RC_ASSERT(to_json(curve) == to_json(other));
    for (double n = 1; n <= 128; n *= 1.3) {
        const RateEstimate estimate = curve.rate(n);
        RC_ASSERT(estimate.rate > 0 && std::isfinite(estimate.rate));
        RC_ASSERT(estimate.low <= estimate.rate && estimate.rate <= estimate.high);
    }
    const std::int64_t best = knee(curve, 50);
    RC_ASSERT(best >= 1 && best <= 50);
}

} // namespace
} // namespace fathom
