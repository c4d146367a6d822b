#include "core/decide/statistics/sample_statistics.hpp"
#include "core/decide/statistics/slowdown.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

namespace fathom {
namespace {

/// Of these samples with their own medians.
Slowdown of(const std::vector<double>& beside, const std::vector<double>& alone)
{
    return slowdown_of({beside, median(beside)}, {alone, median(alone)});
}

std::vector<double> with_one(std::size_t count, double sample)
{
    std::vector<double> samples(count, 1.0);
    samples[count / 2] = sample;
    return samples;
}

TEST(Slowdown, OfEqualSamplesIsNone)
{
    const std::vector<double> alone(10, 0.1);

    const Slowdown slowdown = of(std::vector<double>(7, 0.1), alone);

    EXPECT_NEAR(slowdown.ratio, 1, 1e-12);
    EXPECT_NEAR(slowdown.deviation, 0, 1e-12);
    EXPECT_NEAR(of(std::vector<double>(10, 0.13), alone).ratio, 1.3, 1e-12);
}

TEST(Slowdown, CountsABurstAsAJobOfManySamplesPaysIt)
{
    // One sample of ten takes twice as long: a tenth more, which the median does not see. Squares of 9 · 0.1² and 0.9²
    // over 9 · 10 are the variance of the mean, 0.01.
    const std::vector<double> beside = with_one(10, 2);

    const Slowdown slowdown = of(beside, std::vector<double>(10, 1.0));

    EXPECT_EQ(median(beside), 1);
    EXPECT_NEAR(slowdown.ratio, 1.1, 1e-12);
    EXPECT_NEAR(slowdown.deviation, 0.1 / 1.1, 1e-12);
}

TEST(Slowdown, BurstsThatComeAsOftenAloneAreNoCostOfNeighbours)
{
    EXPECT_NEAR(of(with_one(10, 2), with_one(10, 2)).ratio, 1, 1e-12);
}

TEST(Slowdown, AStallOfTheMachineIsBounded)
{
    const std::vector<double> alone(10, 1.0);

    // However long it is, it counts for three medians.
    EXPECT_NEAR(of(with_one(10, 1000), alone).ratio, 1.2, 1e-12);
    EXPECT_EQ(of(with_one(10, 1000), alone).ratio, of(with_one(10, 3), alone).ratio);
    EXPECT_GT(of(with_one(10, 1000), alone).deviation, 0.1) << "and the interval says it";
}

TEST(Slowdown, AStallAloneTakesNothingFromWhatNeighboursCost)
{
    const Slowdown slowdown = of(std::vector<double>(10, 1.5), with_one(10, 1000));

    EXPECT_NEAR(slowdown.ratio, 1.5, 1e-12);
    EXPECT_GT(slowdown.deviation, 0.1);
}

TEST(Slowdown, OfTooFewSamplesIsThatOfTheMedians)
{
    const std::vector<double> alone(10, 1.0);

    const Slowdown few = of({1, 1, 1, 3}, alone);
    EXPECT_EQ(few.ratio, 1);
    EXPECT_EQ(few.deviation, 0) << "not known";
    EXPECT_EQ(of(with_one(10, 2), {1, 1, 1, 1}).ratio, 1) << "alone, too";
    EXPECT_NEAR(of({1, 1, 1, 1, 3}, alone).ratio, 1.4, 1e-12);
    EXPECT_EQ(slowdown_of({{}, 3}, {{}, 2}).ratio, 1.5) << "without any";
}

TEST(Slowdown, IsNoLessThanTheRatioOfTheMediansAsTheyWereTaken)
{
    // Undisturbed samples are of 1.2 s; those that were disturbed for once are shorter.
    const std::vector<double> beside{1.2, 1.2, 1.2, 1.2, 1.2, 1.2, 1.0, 1.0};
    const std::vector<double> alone(8, 1.0);

    EXPECT_NEAR(slowdown_of({beside, 1.2}, {alone, 1}).ratio, 1.2, 1e-12);
}

/// Of the default seven samples, 2 % apart, in one of ten of which something else took the processor as long again.
struct DrawnMeans {
    double log_slowdown{};
    double log_of_medians{};
};

/// @param stalls_pct  of all samples, also those alone.
DrawnMeans drawn_means(unsigned stalls_pct)
{
    constexpr int kTrials = 4000;
    std::mt19937 random(7); // NOLINT: the same numbers every time
    std::normal_distribution<double> normal(0, 0.02);
    const auto happens = [&](unsigned pct) { return random() % 100 < pct; };
    const auto draw = [&](unsigned bursts_pct) {
        std::vector<double> samples(7);
        for (double& sample : samples)
            sample = std::exp(normal(random)) * (happens(bursts_pct) ? 2 : 1) * (happens(stalls_pct) ? 1000 : 1);
        return samples;
    };
    DrawnMeans means;
    for (int i = 0; i < kTrials; ++i) {
        const std::vector<double> alone = draw(0);
        const std::vector<double> beside = draw(10);
        means.log_slowdown += std::log(of(beside, alone).ratio) / kTrials;
        means.log_of_medians += std::log(median(beside) / median(alone)) / kTrials;
    }
    return means;
}

TEST(Slowdown, IsRightOnAverageWhereBurstsComeWithNeighbours)
{
    const DrawnMeans means = drawn_means(0);

    EXPECT_NEAR(means.log_slowdown, std::log(1.1), 0.015);
    EXPECT_LT(means.log_of_medians, 0.02) << "medians see next to nothing of it";
    EXPECT_NEAR(drawn_means(1).log_slowdown, std::log(1.1), 0.03) << "with stalls of the machine, too";
}

TEST(Slowdown, DoesNotDependOnTheUnit)
{
    const std::vector<double> beside{1, 1.1, 2.5, 1, 1.2, 1, 9};
    const std::vector<double> alone{0.9, 1, 1, 1.1, 1, 1, 1.3};
    std::vector<double> beside_ms = beside;
    std::vector<double> alone_ms = alone;
    for (std::vector<double>* const samples : {&beside_ms, &alone_ms})
        std::for_each(samples->begin(), samples->end(), [](double& sample) { sample *= 1000; });

    EXPECT_NEAR(of(beside_ms, alone_ms).ratio, of(beside, alone).ratio, 1e-12);
    EXPECT_NEAR(of(beside_ms, alone_ms).deviation, of(beside, alone).deviation, 1e-12);
}

} // namespace
} // namespace fathom
