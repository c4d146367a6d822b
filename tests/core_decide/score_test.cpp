#include "core/decide/score.hpp"

#include <gtest/gtest.h>

namespace fathom {
namespace {

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
    one.median_s = time_s;
    one.error = error;
    one.tolerance = 1e-12;
    return one;
}

// M16, golden.
TEST(Score, GoldenIntervals)
{
    const MetricPolicy policy = golden_policy();

    EXPECT_DOUBLE_EQ(*score(policy, run(1.4, 3e-11)), 80);
    EXPECT_DOUBLE_EQ(*score(policy, run(0.5, 1e-5)), 70);
    EXPECT_DOUBLE_EQ(*score(policy, run(2, 1e-9)), 47);
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
    EXPECT_DOUBLE_EQ(*score(relative_policy(), run(0.1, 0)), 1000);
    EXPECT_DOUBLE_EQ(*score(relative_policy(), run(0.05, 0)), 2000);
}

TEST(Score, RelativeFallsToZeroAtAThousandTimesTheTolerance)
{
    const MetricPolicy policy = relative_policy();

    EXPECT_DOUBLE_EQ(*score(policy, run(0.1, 1e-12)), 1000);
    EXPECT_NEAR(*score(policy, run(0.1, 3.1622776601683795e-11)), 500, 1e-9);
    EXPECT_DOUBLE_EQ(*score(policy, run(0.1, 1e-9)), 0);
}

TEST(Score, RelativeScalesTheReferenceToAnotherSize)
{
    MeasuredOperator larger = run(0.2, 0);
    larger.parameters_key = "n=1290";
    larger.operations = 4e9;

    EXPECT_DOUBLE_EQ(*score(relative_policy(), larger), 1000);
}

TEST(Score, RelativeHasNoneForAnOperatorWithoutReference)
{
    MeasuredOperator other = run(1, 0);
    other.operator_id = "spmv";

    EXPECT_FALSE(score(relative_policy(), other).has_value());
}

TEST(MetricPolicyDocument, SurvivesTheWayThroughJson)
{
    for (const MetricPolicy& policy : {golden_policy(), relative_policy()}) {
        EXPECT_EQ(to_json(parse_metric_policy(to_json(policy)).value()), to_json(policy));
    }
}

TEST(MetricPolicyDocument, RefusesStepsThatDoNotAscendOrEndOpen)
{
    const Json document = Json::parse(R"({"id": "x", "kind": "intervals", "figures": [
        {"figure": "time_s", "weight": 1, "steps": [{"below": 2, "points": 1}, {"below": 1, "points": 2}]}]})");

    const Result<MetricPolicy> policy = parse_metric_policy(document);

    ASSERT_FALSE(policy);
    const Error error = policy.error();
    ASSERT_EQ(error.fields.size(), 2U);
    EXPECT_EQ(error.fields[0].field, "figures[0].steps[1].below");
}

} // namespace
} // namespace fathom
