#include "core/decide/statistics/sample_statistics.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

namespace fathom {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

/// 1, 2, …, n, shuffled: a sample's value is its rank.
std::vector<double> ranks(int n)
{
    std::vector<double> values(static_cast<std::size_t>(n));
    std::iota(values.begin(), values.end(), 1.0);
    std::shuffle(values.begin(), values.end(), std::mt19937(7)); // NOLINT: the same order every time
    return values;
}

TEST(Summarize, OfOneSampleIsThatSample)
{
    const SampleStatistics statistics = summarize(std::vector{4.5});

    EXPECT_DOUBLE_EQ(statistics.median, 4.5);
    EXPECT_DOUBLE_EQ(statistics.ci_low, 4.5);
    EXPECT_DOUBLE_EQ(statistics.ci_high, 4.5);
    EXPECT_DOUBLE_EQ(statistics.spread, 0);
    EXPECT_THAT(statistics.outliers, IsEmpty());
}

TEST(Summarize, TakesTheMiddleOrTheMeanOfTheTwoInTheMiddle)
{
    EXPECT_DOUBLE_EQ(summarize(std::vector{9.0, 1.0, 2.0}).median, 2);
    EXPECT_DOUBLE_EQ(summarize(std::vector{9.0, 1.0, 2.0, 4.0}).median, 3);
}

TEST(Summarize, MeasuresSpreadByTheQuartiles)
{
    // Quartiles of 1..9 are 3 and 7, the median is 5.
    EXPECT_DOUBLE_EQ(summarize(ranks(9)).spread, 4.0 / 5);
}

struct Interval {
    int samples;
    int low_rank;
    int high_rank;
};

class MedianInterval : public testing::TestWithParam<Interval> {};

// The ranks of the published tables (Hahn and Meeker, table A.16): at least 95 %, else the whole range.
TEST_P(MedianInterval, HasTheRanksOfTheTables)
{
    const SampleStatistics statistics = summarize(ranks(GetParam().samples));

    EXPECT_DOUBLE_EQ(statistics.ci_low, GetParam().low_rank);
    EXPECT_DOUBLE_EQ(statistics.ci_high, GetParam().high_rank);
}

INSTANTIATE_TEST_SUITE_P(SampleSizes, MedianInterval,
                         testing::Values(Interval{2, 1, 2}, Interval{5, 1, 5}, Interval{6, 1, 6}, Interval{7, 1, 7},
                                         Interval{8, 1, 8}, Interval{9, 2, 8}, Interval{11, 2, 10}, Interval{12, 3, 10},
                                         Interval{20, 6, 15}, Interval{25, 8, 18}));

TEST(Summarize, CoversTheTrueMedianAsOftenAsItSays)
{
    // 11 samples: ranks 2 and 10 cover with 1 − 2·P(Binomial(11, ½) <= 1) = 98.8 %.
    std::mt19937 random(11); // NOLINT: the same numbers every time
    std::exponential_distribution<double> skewed(1);
    constexpr int kTrials = 4000;
    int covered = 0;
    for (int trial = 0; trial < kTrials; ++trial) {
        std::vector<double> samples(11);
        std::generate(samples.begin(), samples.end(), [&] { return skewed(random); });
        const SampleStatistics statistics = summarize(samples);
        if (statistics.ci_low <= std::log(2.0) && std::log(2.0) <= statistics.ci_high) ++covered;
    }

    EXPECT_NEAR(static_cast<double>(covered) / kTrials, 0.988, 0.006);
}

TEST(Summarize, MarksOutliersAndKeepsThem)
{
    const std::vector<double> samples{10, 11, 100, 10, 11, 10, 11, 0.5, 10};

    const SampleStatistics statistics = summarize(samples);

    EXPECT_THAT(statistics.outliers, ElementsAre(2, 7));
    EXPECT_DOUBLE_EQ(statistics.median, 10);
    EXPECT_DOUBLE_EQ(statistics.ci_high, 11);
}

std::vector<DisturbedSample> disturbed_at(const std::vector<std::int64_t>& samples)
{
    std::vector<DisturbedSample> disturbed;
    for (const std::int64_t sample : samples)
        disturbed.push_back({.sample = sample, .causes = {"preempted"}});
    return disturbed;
}

TEST(SummarizeDisturbed, LeavesDisturbedSamplesOutOfTheMedian)
{
    const std::vector<double> samples{10, 30, 11, 31, 12, 13, 14, 12};

    const SampleStatistics statistics = summarize(samples, disturbed_at({1, 3}));

    EXPECT_DOUBLE_EQ(statistics.median, 12);
    EXPECT_DOUBLE_EQ(statistics.ci_high, 14);
    EXPECT_EQ(statistics.counted, 6U);
}

TEST(SummarizeDisturbed, TakesAllWhenFewerThanHalfOrFewerThanSixAreUndisturbed)
{
    const std::vector<double> nine{1, 2, 3, 4, 5, 6, 7, 8, 9};
    EXPECT_DOUBLE_EQ(summarize(nine, disturbed_at({6, 7, 8})).median, 3.5);
    EXPECT_DOUBLE_EQ(summarize(nine, disturbed_at({5, 6, 7, 8})).median, 5); // five are left
    std::vector<double> thirteen = nine;
    thirteen.insert(thirteen.end(), {10, 11, 12, 13});
    EXPECT_DOUBLE_EQ(summarize(thirteen, disturbed_at({0, 1, 2, 3, 4, 5})).median, 10); // seven of thirteen are left
    EXPECT_DOUBLE_EQ(summarize(thirteen, disturbed_at({0, 1, 2, 3, 4, 5, 6})).median, 7);
}

TEST(SummarizeDisturbed, CountsASampleOnceAndIgnoresSamplesThatAreNotThere)
{
    const std::vector<double> samples{10, 30, 11, 12, 12, 13, 14};

    EXPECT_DOUBLE_EQ(summarize(samples, disturbed_at({1, 1, 1, 1, -1, 6, 99})).median, 12);
}

TEST(SummarizeDisturbed, StillMarksOutliersAmongAllSamples)
{
    const std::vector<double> samples{10, 11, 100, 10, 11, 10, 11, 10};

    EXPECT_THAT(summarize(samples, disturbed_at({0, 2})).outliers, ElementsAre(2));
}

TEST(Summarize, DoesNotDependOnTheOrder)
{
    std::vector<double> samples = ranks(15);
    const SampleStatistics shuffled = summarize(samples);
    std::sort(samples.begin(), samples.end());
    const SampleStatistics sorted = summarize(samples);

    EXPECT_DOUBLE_EQ(shuffled.median, sorted.median);
    EXPECT_DOUBLE_EQ(shuffled.ci_low, sorted.ci_low);
    EXPECT_DOUBLE_EQ(shuffled.spread, sorted.spread);
}

} // namespace
} // namespace fathom
