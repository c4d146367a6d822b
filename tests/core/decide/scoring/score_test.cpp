#include "core/decide/scoring/resolve_policy.hpp"
#include "core/decide/scoring/score.hpp"

#include <gmock/gmock.h>

namespace fathom {
namespace {

using testing::HasSubstr;

/// The policy of M16's golden cases.
MetricPolicy golden_policy()
{
    const Json document = Json::parse(R"({
        "id": "golden", "kind": "intervals",
        "figures": [
            {"figure": "time_s", "weight": 0.7, "steps": [
                {"below": 1, "points": 100}, {"below": 2, "points": 80}, {"below": 5, "points": 50}, {"points": 10}]},
            {"figure": "error", "weight": 0.3, "steps": [
                {"below": 1e-12, "points": 100}, {"below": 1e-9, "points": 80}, {"below": 1e-6, "points": 40},
                {"points": 0}]}]})");
    return parse_metric_policy(document).value();
}

MeasuredOperator run(double time_s, double error)
{
    MeasuredOperator one;
    one.operator_id = "dgemm";
    one.parameters_key = "n=1024";
    one.operations = 2e9;
    one.bytes = 1e7;
    one.median_s = time_s;
    one.ci_low_s = time_s;
    one.ci_high_s = time_s;
    one.error = error;
    one.tolerance = 1e-12;
    return one;
}

double points(const MetricPolicy& policy, const MeasuredOperator& measured)
{
    return score(policy, measured).value().value;
}

// M16, golden.
TEST(Score, GoldenIntervals)
{
    const MetricPolicy policy = golden_policy();

    EXPECT_DOUBLE_EQ(points(policy, run(1.4, 3e-11)), 80);
    EXPECT_DOUBLE_EQ(points(policy, run(0.5, 1e-5)), 70);
    EXPECT_DOUBLE_EQ(points(policy, run(2, 1e-9)), 47);
}

TEST(Score, OfCachesInPlaceOfMemoryThereIsNone)
{
    MeasuredOperator measured = run(1.4, 3e-11);
    measured.cache_verdict = "a rate of the caches, not of memory";

    const Result<ScoreValue> none = score(golden_policy(), measured);

    ASSERT_FALSE(none);
    EXPECT_EQ(none.error().detail, measured.cache_verdict);
}

TEST(Score, IntervalsSpanAllPointsThatATimeWithinTheIntervalGets)
{
    MeasuredOperator measured = run(1.4, 0);
    measured.ci_low_s = 0.9;
    measured.ci_high_s = 2.1;

    const ScoreValue value = score(golden_policy(), measured).value();

    EXPECT_DOUBLE_EQ(value.value, 0.7 * 80 + 30);
    EXPECT_DOUBLE_EQ(value.low, 0.7 * 50 + 30);
    EXPECT_DOUBLE_EQ(value.high, 0.7 * 100 + 30);
}

TEST(Score, IntervalsCanBeOfRates)
{
    const MetricPolicy policy = parse_metric_policy(Json::parse(R"({"id": "r", "kind": "intervals", "figures": [
        {"figure": "rate_flops", "weight": 1, "steps": [{"below": 1e9, "points": 1}, {"points": 9}]}]})"))
                                    .value();
    EXPECT_DOUBLE_EQ(points(policy, run(1, 0)), 9);
    EXPECT_DOUBLE_EQ(points(policy, run(4, 0)), 1);
    MeasuredOperator transfer = run(1, 0);
    transfer.operations = 0;
    EXPECT_THAT(score(policy, transfer).error().detail, HasSubstr("rate_flops"));
}

MetricPolicy relative_policy()
{
    const Json document = Json::parse(R"({
        "id": "relative-v1", "kind": "relative", "reference_machine": "a test",
        "reference": [{"operator": "dgemm", "parameters": {"n": 1024}, "operations": 2e9, "bytes": 1e7, "median_s": 0.1}]})");
    return parse_metric_policy(document).value();
}

TEST(Score, RelativeIsAThousandTimesReferenceOverMeasured)
{
    EXPECT_DOUBLE_EQ(points(relative_policy(), run(0.1, 0)), 1000);
    EXPECT_DOUBLE_EQ(points(relative_policy(), run(0.05, 0)), 2000);
}

TEST(Score, RelativeTurnsTheIntervalOfTheTimeOver)
{
    MeasuredOperator measured = run(0.1, 0);
    measured.ci_low_s = 0.08;
    measured.ci_high_s = 0.125;

    const ScoreValue value = score(relative_policy(), measured).value();

    EXPECT_DOUBLE_EQ(value.low, 800);
    EXPECT_DOUBLE_EQ(value.high, 1250);
}

TEST(Score, AnIntervalThatReachesZeroMakesNoEndlessScore)
{
    MeasuredOperator measured = run(0.1, 0);
    measured.ci_low_s = 0;
    measured.ci_high_s = 0.05;

    const ScoreValue value = score(relative_policy(), measured).value();

    EXPECT_DOUBLE_EQ(value.low, 1000);
    EXPECT_DOUBLE_EQ(value.high, 1000);
}

TEST(Score, RelativeFallsToZeroAtAThousandTimesTheTolerance)
{
    const MetricPolicy policy = relative_policy();

    EXPECT_DOUBLE_EQ(points(policy, run(0.1, 1e-12)), 1000);
    EXPECT_NEAR(points(policy, run(0.1, 3.1622776601683795e-11)), 500, 1e-9);
    EXPECT_DOUBLE_EQ(points(policy, run(0.1, 1e-9)), 0);
}

TEST(Score, RelativeScalesTheReferenceToAnotherSize)
{
    MeasuredOperator larger = run(0.2, 0);
    larger.parameters_key = "n=1290";
    larger.operations = 4e9;

    EXPECT_DOUBLE_EQ(points(relative_policy(), larger), 1000);
}

TEST(Score, RelativeHasNoneForAnOperatorWithoutReference)
{
    MeasuredOperator other = run(1, 0);
    other.operator_id = "spmv";

    const Result<ScoreValue> none = score(relative_policy(), other);

    ASSERT_FALSE(none);
    EXPECT_THAT(none.error().detail, HasSubstr("spmv"));
    EXPECT_FALSE(can_score(relative_policy(), "spmv"));
    EXPECT_TRUE(can_score(relative_policy(), "dgemm"));
}

TEST(Score, CombinedAddsTheScoresOfItsParts)
{
    const MetricPolicy combined = parse_metric_policy(Json::parse(R"({"id": "c", "kind": "combined", "policies": [
        {"policy": "golden", "weight": 0.25}, {"policy": "relative-v1@1", "weight": 0.75}]})"))
                                      .value();
    EXPECT_FALSE(score(combined, run(0.1, 0))) << "not looked up yet";
    const MetricPolicy resolved = resolve_policy(combined, [](const std::string& id, std::int64_t) {
                                      return std::optional(id == "golden" ? golden_policy() : relative_policy());
                                  }).value();

    MeasuredOperator measured = run(0.1, 0);
    measured.ci_high_s = 0.125;

    const ScoreValue value = score(resolved, measured).value();
    EXPECT_DOUBLE_EQ(value.value, 0.25 * 100 + 0.75 * 1000);
    EXPECT_DOUBLE_EQ(value.low, 0.25 * 100 + 0.75 * 800);
    MeasuredOperator other = run(0.1, 0);
    other.operator_id = "spmv";
    EXPECT_THAT(score(resolved, other).error().detail, HasSubstr("relative-v1@1"));
}

} // namespace
} // namespace fathom
