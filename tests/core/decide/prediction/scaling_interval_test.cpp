#include "core/decide/prediction/scaling.hpp"
#include "core/decide/statistics/sample_statistics.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <random>
#include <span>

namespace fathom {
namespace {

using Random = std::mt19937_64;

constexpr int kCurves = 500;

double uniform(Random& random, double low, double high)
{
    return std::uniform_real_distribution<double>(low, high)(random);
}

/// Equally likely in every power of ten.
double any_size(Random& random, double low, double high)
{
    return std::exp(uniform(random, std::log(low), std::log(high)));
}

/// A curve of one of the models, with coefficients as programs have them.
ScalingFit draw_model(Random& random, double most)
{
    switch (std::uniform_int_distribution<int>(0, 4)(random)) {
    case 0:
        return {ScalingModel::kAmdahl, {1, any_size(random, 0.001, 0.4)}};
    case 1: {
        const double fixed = uniform(random, 0, 0.6);
        return {ScalingModel::kGustafson, {fixed, 1 - fixed}};
    }
    case 2:
        return {ScalingModel::kUniversal, {1, any_size(random, 0.001, 0.2), any_size(random, 1e-5, 3e-3)}};
    case 3:
        return {ScalingModel::kSaturation, {1, any_size(random, 2, 1.5 * most), uniform(random, 1, 8)}};
    default:
        return {ScalingModel::kNormalForm, {uniform(random, 0, 0.1), 1, -uniform(random, 0.5, 0.95), 0}};
    }
}

/// Rates at 1, 2 … units: a model with noise of 3 %.
std::vector<double> draw_noisy_model(Random& random)
{
    const double most = std::round(any_size(random, 12, 192));
    const ScalingFit model = draw_model(random, most);
    std::normal_distribution<double> normal;
    std::vector<double> rates;
    for (double n = 1; n <= most; ++n)
        rates.push_back(model.rate(n) * std::exp(0.03 * normal(random)));
    return rates;
}

/// A model with what no model has (work in whole pieces, domains of several units of which the last is not full, a slow
/// wander) and noise.
std::vector<double> draw_program(Random& random)
{
    const double most = std::round(any_size(random, 12, 192));
    const ScalingFit model = draw_model(random, most);
    const bool has_pieces = uniform(random, 0, 1) < 0.3;
    const double pieces = std::round(most * uniform(random, 2, 30));
    const bool has_domains = uniform(random, 0, 1) < 0.3;
    const double domain = std::max(2.0, std::round(most / std::exp2(uniform(random, 1, 3))));
    const double domain_cost = uniform(random, 0, 0.1);
    const bool wanders = uniform(random, 0, 1) < 0.5;
    const double wander = any_size(random, 0.005, 0.1);
    const double turns = uniform(random, 0.5, 3); // of ln count from 1 to most
    const double phase = uniform(random, 0, 2 * std::numbers::pi);
    const double noise = any_size(random, 0.003, 0.05);
    std::normal_distribution<double> normal;
    std::vector<double> rates;
    for (double n = 1; n <= most; ++n) {
        double ln_rate = std::log(model.rate(n)) + noise * normal(random);
        if (has_pieces) ln_rate -= std::log(std::ceil(pieces / n) * n / pieces);
        if (has_domains) ln_rate -= domain_cost * (std::ceil(n / domain) * domain / n - 1);
        if (wanders) ln_rate += wander * std::sin(2 * std::numbers::pi * turns * std::log(n) / std::log(most) + phase);
        rates.push_back(std::exp(ln_rate));
    }
    return rates;
}

struct Judged {
    double inside{};     ///< share of the counts that were not measured
    double half_width{}; ///< median, of ln rate
    double error{};      ///< median |ln(predicted / measured)|
};

/// Of the counts that the server would have measured, against all others.
Judged judge(std::vector<double> (*draw)(Random&), unsigned seed)
{
    Random random(seed);
    int inside = 0;
    std::vector<double> half_widths;
    std::vector<double> errors;
    for (int i = 0; i < kCurves; ++i) {
        const std::vector<double> rates = draw(random);
        const auto rate_at = [&](std::int64_t n) { return rates[static_cast<std::size_t>(n - 1)]; };
        std::vector<std::int64_t> measured = scaling_counts(std::ssize(rates), kScalingCounts);
        const auto fit = [&] {
            std::vector<ScalingPoint> points;
            for (const std::int64_t n : measured)
                points.push_back({static_cast<double>(n), rate_at(n)});
            return fit_scaling(points, ScalingMode::kStrong).value();
        };
        ScalingCurve curve = fit();
        if (const auto next = next_scaling_count(std::span(&curve, 1), std::ssize(rates), measured)) {
            measured.push_back(*next);
            curve = fit();
        }
        for (std::int64_t n = 1; n <= std::ssize(rates); ++n) {
            if (std::find(measured.begin(), measured.end(), n) != measured.end()) continue;
            const RateEstimate estimate = curve.rate(static_cast<double>(n));
            if (estimate.low <= rate_at(n) && rate_at(n) <= estimate.high) ++inside;
            half_widths.push_back(std::log(estimate.high / estimate.low) / 2);
            errors.push_back(std::abs(std::log(estimate.rate / rate_at(n))));
        }
    }
    return {static_cast<double>(inside) / static_cast<double>(errors.size()), median(half_widths), median(errors)};
}

TEST(ScalingInterval, HoldsEightTenthsOfTheCountsThatWereNotMeasured)
{
    // A curve is right or wrong as a whole, more or less: over 500 of them chance moves the share by about a point.
    constexpr double kChance = 0.02;
    for (const auto draw : {draw_program, draw_noisy_model}) {
        const Judged judged = judge(draw, 20261122);
        EXPECT_GT(judged.inside, 0.75 - kChance);
        EXPECT_LT(judged.inside, 0.85 + kChance);
        // What holds eight tenths of normal errors is 1.9 times as wide as what holds half of them.
        EXPECT_LT(judged.half_width, 3 * judged.error);
    }
}

TEST(ScalingInterval, WidensWithTheDistanceToWhatWasMeasured)
{
    const std::vector<double> measured{1, 4, 16, 64};

    // Half way in ln count between neighbours that are ln 4 apart: ln 2 · ln 2 / ln 4. Beyond the ends the distance.
    const double at_measured = error_variance(measured, 4);
    EXPECT_NEAR(error_variance(measured, 8) - at_measured, std::log(4) / 4, 1e-12);
    EXPECT_NEAR(error_variance(measured, 32) - at_measured, std::log(4) / 4, 1e-12);
    EXPECT_NEAR(error_variance(measured, 128) - at_measured, std::log(2), 1e-12);
    EXPECT_NEAR(error_variance(std::vector<double>{2, 4}, 1) - at_measured, std::log(2), 1e-12);
    EXPECT_NEAR(error_variance(measured, 1), at_measured, 1e-12);
    EXPECT_LT(error_variance(measured, 5), error_variance(measured, 6));
}

TEST(ScalingInterval, IsOfStudentsDistribution)
{
    // Amdahl's law from 1, 2 and 4: without 2, and without 4, it is known how far the model misses.
    const std::vector<ScalingPoint> points{{1, 1}, {2, 1.9}, {4, 3}};
    const ScalingCurve curve = fit_scaling(points, ScalingMode::kStrong).value();
    const auto missed = [&](std::size_t out) {
        std::vector<ScalingPoint> rest = points;
        rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(out));
        std::vector<double> counts;
        for (const ScalingPoint& point : rest)
            counts.push_back(point.unit_count);
        const double miss =
            std::log(fit_model(curve.models.front().fit.model, rest)->rate(points[out].unit_count) / points[out].rate);
        return miss * miss / error_variance(counts, points[out].unit_count);
    };

    // 1.886 is t(0.9) with two degrees of freedom.
    ASSERT_TRUE(curve.half_interval);
    EXPECT_NEAR(*curve.half_interval, 1.8856 * std::sqrt((missed(1) + missed(2)) / 2), 1e-4);
    const RateEstimate estimate = curve.rate(3);
    EXPECT_NEAR(std::log(estimate.high / estimate.rate), std::log(estimate.rate / estimate.low), 1e-12);
    const std::vector<double> counts{1, 2, 4};
    EXPECT_NEAR(std::log(estimate.high / estimate.rate), *curve.half_interval * std::sqrt(error_variance(counts, 3)),
                1e-12);
}

} // namespace
} // namespace fathom
