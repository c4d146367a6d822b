#include "server/probing/run_comparison.hpp"

#include <gmock/gmock.h>

namespace fathom::server {
namespace {

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
