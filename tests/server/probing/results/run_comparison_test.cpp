#include "core/decide/prediction/combine_results.hpp"
#include "server/probing/results/run_comparison.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <string>
#include <vector>

namespace fathom::server {
namespace {

MeasuredOperator measured(const std::string& run, double median_s)
{
    MeasuredOperator one;
    one.operator_id = "dgemm";
    one.probe_run_id = run;
    one.median_s = one.ci_low_s = one.ci_high_s = median_s;
    return one;
}

ComparedResult result(const std::string& center, std::int64_t units, double median_s, double half_width_s)
{
    ComparedResult one;
    one.operator_id = "dgemm";
    one.parameters = {{"n", 10}};
    one.parameters_key = "n=10";
    one.unit_count = units;
    one.center = center;
    one.unit_type = "core";
    one.probe_run_id = "prn_" + center;
    one.median_s = median_s;
    one.ci_low_s = median_s - half_width_s;
    one.ci_high_s = median_s + half_width_s;
    one.together = measured(one.probe_run_id, median_s);
    return one;
}

/// The run has the newest of these times, each exact; the others are of earlier ones.
ComparedResult result_of(const std::string& center, const std::vector<double>& newest_first)
{
    ComparedResult one = result(center, 1, newest_first.front(), 0);
    std::vector<MeasuredOperator> results;
    for (const double median_s : newest_first)
        results.push_back(measured(one.probe_run_id + "_" + std::to_string(results.size()), median_s));
    one.together = combine_results(results);
    return one;
}

TEST(CompareResults, PlacesStandBestFirstWithTheirRatioToTheBest)
{
    const Json groups =
        compare_results({result("slow", 1, 3.0, 0.1), result("fast", 1, 1.5, 0.1), result("near", 1, 1.6, 0.1)});

    ASSERT_EQ(groups.size(), 1U);
    const Json& places = groups[0]["places"];
    ASSERT_EQ(places.size(), 3U);
    EXPECT_EQ(places[0]["center"], "fast");
    EXPECT_DOUBLE_EQ(places[0]["ratio"].get<double>(), 1);
    EXPECT_EQ(places[1]["center"], "near");
    EXPECT_TRUE(places[1]["is_tied"].get<bool>()) << "1.5..1.7 overlaps 1.4..1.6";
    EXPECT_DOUBLE_EQ(places[2]["ratio"].get<double>(), 2);
    EXPECT_FALSE(places[2]["is_tied"].get<bool>());
}

TEST(CompareResults, ADifferenceWithinTheSpreadBetweenResultsIsATie)
{
    // docs/measurement.md "Standard comparison": together 1.049 s (0.892 … 1.233) and 1.099 s (0.942 … 1.282).
    const Json groups = compare_results({result_of("a", {1.1, 1.0}), result_of("b", {1.15, 1.05})});

    ASSERT_EQ(groups.size(), 1U);
    const Json& b = groups[0]["places"][1];
    EXPECT_EQ(b["center"], "b");
    EXPECT_EQ(b["median_s"], 1.15) << "of the run alone";
    EXPECT_FALSE(b["is_tied"].get<bool>()) << "the runs alone are exact";
    EXPECT_TRUE(b["together"]["is_tied"].get<bool>());
    EXPECT_NEAR(b["together"]["median_s"].get<double>(), std::sqrt(1.15 * 1.05), 1e-9);
    EXPECT_NEAR(b["together"]["ci_low_s"].get<double>(), 0.942, 5e-4);
    EXPECT_NEAR(b["together"]["ci_high_s"].get<double>(), 1.282, 5e-4);
    EXPECT_NEAR(b["together"]["ratio"].get<double>(), std::sqrt(1.15 * 1.05 / 1.1), 1e-9);
    EXPECT_EQ(b["together"]["probe_run_ids"], (Json{"prn_b_0", "prn_b_1"}));
}

TEST(CompareResults, ADifferenceBeyondTheSpreadBetweenResultsIsOne)
{
    const Json groups = compare_results({result_of("a", {1.01, 1.0}), result_of("b", {1.5, 1.51})});

    const Json& places = groups[0]["places"];
    EXPECT_TRUE(places[0]["together"]["is_tied"].get<bool>()) << "the best itself";
    EXPECT_FALSE(places[1]["together"]["is_tied"].get<bool>());
}

TEST(CompareResults, WhatIsBestTogetherNeedNotBeOfTheBestRun)
{
    const Json groups = compare_results({result_of("lucky", {0.99, 1.1, 1.09, 1.1}), result_of("steady", {1.0, 1.0})});

    const Json& places = groups[0]["places"];
    EXPECT_EQ(places[0]["center"], "lucky") << "in the order of the runs alone";
    EXPECT_GT(places[0]["together"]["ratio"].get<double>(), 1.06);
    EXPECT_EQ(places[1]["ratio"].get<double>(), 1 / 0.99);
    EXPECT_EQ(places[1]["together"]["ratio"].get<double>(), 1);
}

TEST(CompareResults, OnlyTheSameCountIsCompared)
{
    const Json groups = compare_results({result("a", 2, 1, 0), result("b", 1, 1, 0), result("b", 2, 2, 0)});

    ASSERT_EQ(groups.size(), 2U);
    EXPECT_EQ(groups[0]["unit_count"], 1);
    EXPECT_EQ(groups[0]["places"].size(), 1U);
    EXPECT_EQ(groups[1]["unit_count"], 2);
    EXPECT_EQ(groups[1]["places"].size(), 2U);
}

TEST(CompareResults, NothingGivesNothing)
{
    EXPECT_TRUE(compare_results({}).empty());
}

} // namespace
} // namespace fathom::server
