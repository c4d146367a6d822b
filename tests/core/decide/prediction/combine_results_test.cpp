#include "core/decide/prediction/combine_results.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <span>
#include <string>
#include <vector>

namespace fathom {
namespace {

/// A result whose own interval is 1 % to both sides.
MeasuredOperator result(double median_s, const std::string& run = "prn_new")
{
    MeasuredOperator measured;
    measured.operator_id = "dgemm";
    measured.parameters_key = "n=100";
    measured.median_s = median_s;
    measured.ci_low_s = median_s * 0.99;
    measured.ci_high_s = median_s * 1.01;
    measured.probe_run_id = run;
    return measured;
}

TEST(CombineResults, ASingleResultStaysAsItIs)
{
    const std::vector<MeasuredOperator> one{result(2)};
    const MeasuredOperator combined = combine_results(one);

    EXPECT_EQ(combined.median_s, 2);
    EXPECT_EQ(combined.ci_low_s, 1.98);
    EXPECT_EQ(combined.ci_high_s, 2.02);
}

TEST(CombineResults, SeveralSendingsCountTogetherWithTheirSpread)
{
    // ±4 % from sending to sending, 1 % inside each: the mean of all, and an interval that holds them.
    const std::vector<MeasuredOperator> results{result(1.04), result(0.96, "prn_old"), result(1.03, "prn_old"),
                                                result(0.97, "prn_old")};
    const MeasuredOperator combined = combine_results(results);

    EXPECT_NEAR(combined.median_s, std::pow(1.04 * 0.96 * 1.03 * 0.97, 0.25), 1e-9);
    EXPECT_LT(combined.ci_low_s, 0.96);
    EXPECT_GT(combined.ci_high_s, 1.04);
    EXPECT_EQ(combined.probe_run_id, "prn_new");
}

TEST(CombineResults, TheIntervalIsThatOfTheNextResult)
{
    // ln: ±0.03, so between = 0.0018 × 1.5; within: (ln(1.01 / 0.99) / 3.92)² each.
    const std::vector<MeasuredOperator> results{result(std::exp(0.03)), result(std::exp(-0.03))};
    const MeasuredOperator combined = combine_results(results);

    const double within = std::log(1.01 / 0.99) / 3.92;
    const double deviation = std::sqrt(0.0018 * 1.5 + within * within);
    EXPECT_NEAR(combined.median_s, 1, 1e-9);
    EXPECT_NEAR(combined.ci_high_s, std::exp(1.96 * deviation), 1e-9);
    EXPECT_NEAR(deviation_of(combined), deviation, 1e-9);
}

TEST(CombineResults, AChangeDropsWhatWasBeforeIt)
{
    const std::vector<MeasuredOperator> slower{result(1.5), result(1), result(1.01), result(0.99)};
    EXPECT_EQ(combine_results(slower).median_s, 1.5);

    const std::vector<MeasuredOperator> confirmed{result(1.5), result(1.47), result(1), result(1.01)};
    EXPECT_NEAR(combine_results(confirmed).median_s, std::sqrt(1.5 * 1.47), 1e-9);
}

TEST(CombineResults, AChangeThatOneResultTellsOfMayBeABadMoment)
{
    const std::vector<MeasuredOperator> slower{result(1.5), result(1), result(1.01)};
    const std::vector<MeasuredOperator> faster{result(0.5), result(1), result(1.01)};
    const std::vector<MeasuredOperator> confirmed{result(1.5), result(1.49), result(1), result(1.01)};

    EXPECT_EQ(combine_results(slower).ci_low_s, 1) << "what it was before";
    EXPECT_DOUBLE_EQ(combine_results(slower).ci_high_s, 1.515);
    EXPECT_DOUBLE_EQ(combine_results(faster).ci_low_s, 0.495);
    EXPECT_EQ(combine_results(faster).ci_high_s, 1);
    EXPECT_GT(combine_results(confirmed).ci_low_s, 1.4);
}

TEST(CombineResults, NoiseIsNoChangeWhereResultsAlwaysSpread)
{
    // The newer three differ by ±15 %: an older one as far away is as they are. After steady ones it is not.
    const std::vector<MeasuredOperator> noisy{result(1.15), result(0.95), result(1.15), result(0.85)};
    EXPECT_NEAR(combine_results(noisy).median_s, std::pow(1.15 * 0.95 * 1.15 * 0.85, 0.25), 1e-9);

    const std::vector<MeasuredOperator> steady{result(1.08), result(1.08), result(1.08), result(0.85)};
    EXPECT_NEAR(combine_results(steady).median_s, 1.08, 1e-9);
}

TEST(CombineResults, NamesTheRunsThatCount)
{
    const std::vector<MeasuredOperator> results{result(1, "prn_3"), result(1.01, "prn_2"), result(2, "prn_1")};

    EXPECT_EQ(run_ids_of(combine_results(results)), (std::vector<std::string>{"prn_3", "prn_2"}));
    EXPECT_EQ(run_ids_of(combine_results(std::span(results).first(1))), std::vector<std::string>{"prn_3"});
}

TEST(CombineResults, OnlyTheNewestFewCount)
{
    std::vector<MeasuredOperator> results(kMaxResults, result(1));
    const MeasuredOperator few = combine_results(results);
    results.push_back(result(1.1));

    EXPECT_EQ(combine_results(results).median_s, few.median_s);
    EXPECT_EQ(combine_results(results).ci_high_s, few.ci_high_s);
    EXPECT_EQ(run_ids_of(combine_results(results)).size(), kMaxResults);
}

} // namespace
} // namespace fathom
