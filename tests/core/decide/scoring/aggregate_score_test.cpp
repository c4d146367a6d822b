#include "core/decide/scoring/aggregate_score.hpp"
#include "core/decide/scoring/find_measured.hpp"

#include <gmock/gmock.h>
#include <rapidcheck/gtest.h>

#include <cmath>

namespace fathom {
namespace {

using testing::HasSubstr;

/// An operator with parameter n, 2·n operations, and classes small (n = 10) and large (n = 1000).
OperatorManifest manifest_of(const std::string& id, const std::string& category)
{
    return parse_operator_manifest(
               {{"id", id},
                {"category", category},
                {"description", "an operator of a test"},
                {"parameters", {{{"name", "n"}, {"min", 1}, {"max", 100000}, {"default", 1000}, {"description", "n"}}}},
                {"operation_count", "2*n"},
                {"byte_count", "8*n"},
                {"truth", "known"},
                {"tolerance", 1e-12},
                {"precision", "fp64"},
                {"implementations", {{{"resource_type", "cpu"}, {"library", "own"}}}},
                {"size_classes",
                 {{{"name", "small"}, {"parameters", {{"n", 10}}}},
                  {{"name", "large"}, {"parameters", {{"n", 1000}}}}}}})
        .value();
}

class AggregateScoreTest : public testing::Test {
  protected:
    const OperatorManifest a_ = manifest_of("a", "hpc");
    const OperatorManifest b_ = manifest_of("b", "hpc");
    const OperatorManifest c_ = manifest_of("c", "ai");
    const std::vector<const OperatorManifest*> operators_{&a_, &b_, &c_};
    const ManifestLookup lookup_ = [this](std::string_view id, std::int64_t) -> const OperatorManifest* {
        for (const OperatorManifest* one : operators_)
            if (one->id == id) return one;
        return nullptr;
    };

    /// 1000 points for 1 s of every operator at n = 1000.
    MetricPolicy policy_ = parse_metric_policy(Json::parse(R"({
        "id": "r", "kind": "relative", "reference_machine": "m", "reference": [
            {"operator": "a", "parameters": {"n": 1000}, "operations": 2000, "bytes": 8000, "median_s": 1},
            {"operator": "a", "parameters": {"n": 10}, "operations": 20, "bytes": 80, "median_s": 1},
            {"operator": "b", "parameters": {"n": 1000}, "operations": 2000, "bytes": 8000, "median_s": 1},
            {"operator": "c", "parameters": {"n": 1000}, "operations": 2000, "bytes": 8000, "median_s": 1}]})"))
                               .value();
};

/// Half the reference time gives 2000 points.
MeasuredOperator measured(const std::string& id, std::int64_t n, double median_s, double share_of_interval = 0)
{
    MeasuredOperator one;
    one.operator_id = id;
    one.parameters_key = "n=" + std::to_string(n);
    one.operations = 2 * static_cast<double>(n);
    one.bytes = 8 * static_cast<double>(n);
    one.median_s = median_s;
    one.ci_low_s = median_s / (1 + share_of_interval);
    one.ci_high_s = median_s * (1 + share_of_interval);
    one.tolerance = 1e-12;
    one.probe_run_id = "run_" + id;
    return one;
}

TEST_F(AggregateScoreTest, AJobTypeIsTheGeometricMeanByItsShares)
{
    const std::vector<MeasuredOperator> all{measured("a", 1000, 0.5), measured("b", 1000, 2)};

    const AggregateScore aggregate =
        aggregate_score(policy_, parts_of_mix({{"a/large", 0.75}, {"b/large", 0.25}}, lookup_), all, lookup_);

    // 2000 with three quarters, 500 with one.
    ASSERT_TRUE(aggregate.score) << aggregate.missing;
    EXPECT_NEAR(aggregate.score->value, std::pow(2000, 0.75) * std::pow(500, 0.25), 1e-9);
    ASSERT_EQ(aggregate.parts.size(), 2U);
    EXPECT_EQ(aggregate.parts[0].probe_run_id, "run_a");
    EXPECT_EQ(aggregate.missing_parts(), 0);
}

TEST_F(AggregateScoreTest, IntervalsOfIndependentOperatorsAddInSquaresOfLogarithms)
{
    const std::vector<MeasuredOperator> all{measured("a", 1000, 1, 0.1), measured("b", 1000, 1, 0.1)};

    const AggregateScore aggregate =
        aggregate_score(policy_, parts_of_mix({{"a/large", 0.5}, {"b/large", 0.5}}, lookup_), all, lookup_);

    const double half_width = std::sqrt(2 * std::pow(0.5 * std::log(1.1), 2));
    EXPECT_NEAR(aggregate.score->value, 1000, 1e-9);
    EXPECT_NEAR(aggregate.score->low, 1000 * std::exp(-half_width), 1e-9);
    EXPECT_NEAR(aggregate.score->high, 1000 * std::exp(half_width), 1e-9);
}

TEST_F(AggregateScoreTest, AnUnmeasuredPartLeavesNoScoreButAReason)
{
    const std::vector<MeasuredOperator> all{measured("a", 1000, 0.5), measured("b", 10, 2)};

    const AggregateScore aggregate = aggregate_score(
        policy_, parts_of_mix({{"a/large", 0.9}, {"b/large", 0.05}, {"zap(n=3)", 0.05}}, lookup_), all, lookup_);

    EXPECT_FALSE(aggregate.score);
    EXPECT_EQ(aggregate.missing_parts(), 2);
    EXPECT_EQ(aggregate.missing, "2 of 3 operators have no score: b/large: not measured; zap(n=3): not measured");
}

TEST_F(AggregateScoreTest, NothingIsScoredWithoutParts)
{
    EXPECT_THAT(aggregate_score(policy_, {}, {}, lookup_).missing, HasSubstr("no operator"));
}

TEST_F(AggregateScoreTest, AWrongOperatorMakesTheWholeZero)
{
    MeasuredOperator wrong = measured("a", 1000, 0.5);
    wrong.error = 1;
    const std::vector<MeasuredOperator> all{wrong, measured("b", 1000, 1)};

    const AggregateScore aggregate =
        aggregate_score(policy_, parts_of_mix({{"a/large", 0.5}, {"b/large", 0.5}}, lookup_), all, lookup_);

    EXPECT_EQ(aggregate.score->value, 0);
    EXPECT_EQ(aggregate.score->high, 0);
}

TEST_F(AggregateScoreTest, ACategoryWeighsItsOperatorsAlikeUnlessThePolicySaysMore)
{
    const std::vector<MeasuredOperator> all{measured("a", 1000, 0.5), measured("b", 1000, 2), measured("c", 1000, 1)};

    const auto alike = aggregate_score(policy_, parts_of_category(policy_, "hpc", operators_, {}), all, lookup_);
    policy_.aggregate.operators["hpc"] = {{"a", 0.75}, {"b", 0.25}};
    const auto weighed = aggregate_score(policy_, parts_of_category(policy_, "hpc", operators_, {}), all, lookup_);

    EXPECT_NEAR(alike.score->value, 1000, 1e-9);
    EXPECT_NEAR(weighed.score->value, std::pow(2000, 0.75) * std::pow(500, 0.25), 1e-9);
}

TEST_F(AggregateScoreTest, AUnitTypeIsTheMeanOfItsCategories)
{
    const std::vector<MeasuredOperator> all{measured("a", 1000, 0.5), measured("b", 1000, 0.5),
                                            measured("c", 1000, 0.25)};

    const auto alike = aggregate_score(policy_, parts_of_unit_type(policy_, operators_, {}), all, lookup_);
    policy_.aggregate.categories = {{"hpc", 1}};
    const auto weighed = aggregate_score(policy_, parts_of_unit_type(policy_, operators_, {}), all, lookup_);

    EXPECT_NEAR(alike.score->value, std::sqrt(2000.0 * 4000.0), 1e-9);
    EXPECT_NEAR(weighed.score->value, 2000, 1e-9);
}

TEST_F(AggregateScoreTest, ACategoryOrOperatorThatIsNoMoreIsMissingNotLeftOut)
{
    const std::vector<MeasuredOperator> all{measured("a", 1000, 0.5), measured("b", 1000, 0.5)};
    policy_.aggregate.operators["hpc"] = {{"a", 0.5}, {"gone", 0.5}};
    policy_.aggregate.categories = {{"hpc", 0.5}, {"gpu", 0.5}};

    const auto unit_type = aggregate_score(policy_, parts_of_unit_type(policy_, operators_, {}), all, lookup_);

    EXPECT_EQ(unit_type.missing, "2 of 3 operators have no score: gpu/*: not measured; gone: not measured");
}

TEST_F(AggregateScoreTest, APolicyOfIntervalsCountsWhatTheNetworkHasMeasured)
{
    const MetricPolicy policy = parse_metric_policy(Json::parse(R"({"id": "i", "kind": "intervals", "figures": [
        {"figure": "time_s", "weight": 1, "steps": [{"below": 1, "points": 9}, {"points": 4}]}]})"))
                                    .value();
    EXPECT_EQ(parts_of_category(policy, "hpc", operators_, {"b", "c"}).size(), 1U);
    EXPECT_TRUE(parts_of_category(policy, "hpc", operators_, {}).empty());
}

TEST_F(AggregateScoreTest, WhichMachineIsAThousandDoesNotMatterForRatios)
{
    rc::check([&] {
        const auto time = [] { return 0.001 * *rc::gen::inRange(1, 100000); };
        const std::vector<MeasuredOperator> one{measured("a", 1000, time()), measured("b", 1000, time())};
        const std::vector<MeasuredOperator> other{measured("a", 1000, time()), measured("b", 1000, time())};
        const auto parts = parts_of_category(policy_, "hpc", operators_, {});
        const auto ratio = [&](const MetricPolicy& policy) {
            return aggregate_score(policy, parts, one, lookup_).score->value /
                   aggregate_score(policy, parts, other, lookup_).score->value;
        };
        MetricPolicy slower = policy_;
        slower.reference[0].median_s = time();

        RC_ASSERT(std::abs(ratio(slower) / ratio(policy_) - 1) < 1e-9);
    });
}

TEST_F(AggregateScoreTest, TheNearestSizeOfTheClassStandsForIt)
{
    const std::vector<MeasuredOperator> all{measured("a", 11, 1), measured("a", 3000, 1), measured("a", 900, 1)};

    const auto found = [&](const WantedSize& wanted) {
        const MeasuredOperator* one = find_measured(wanted, lookup_(wanted.operator_id, 0), all);
        return one == nullptr ? "none" : one->parameters_key;
    };

    EXPECT_EQ(found({"a", "large", "n=1000"}), "n=900");
    EXPECT_EQ(found({"a", "large", "n=3000"}), "n=3000");
    EXPECT_EQ(found({"a", "small", "n=10"}), "n=11");
    EXPECT_EQ(found({"a", "", "n=1000"}), "none");
    EXPECT_EQ(found({"b", "large", "n=1000"}), "none");
}

TEST_F(AggregateScoreTest, ACategoryCountsWhatMeasuredMemoryAndAJobItsOwnSizes)
{
    MeasuredOperator in_caches = measured("c", 1000, 0.1);
    in_caches.cache_verdict = "a rate of the caches, not of memory";
    const MeasuredOperator in_memory = measured("c", 4000, 4); // at the rate of the reference
    const std::vector<AggregatePart> category = parts_of_category(policy_, "ai", operators_, {});
    const std::vector<AggregatePart> job = parts_of_mix({{"c/large", 1}}, lookup_);

    const std::vector<MeasuredOperator> both{in_caches, in_memory};
    EXPECT_NEAR(aggregate_score(policy_, category, both, lookup_).score->value, 1000, 1e-9);
    EXPECT_NEAR(aggregate_score(policy_, job, both, lookup_).score->value, 10000, 1e-9) << "there it is as fast";

    const AggregateScore none = aggregate_score(policy_, category, std::vector{in_caches}, lookup_);
    EXPECT_FALSE(none.score);
    EXPECT_THAT(none.missing, HasSubstr("not of memory"));
}

TEST(ParametersOfKey, IsTheInverseOfTheKey)
{
    const Parameters parameters{{"k", 3}, {"m", 512}, {"shift", -2}};
    EXPECT_EQ(parameters_of_key(parameters_key(parameters)), parameters);
    EXPECT_TRUE(parameters_of_key("").empty());
    EXPECT_TRUE(parameters_of_key("nonsense,x=").empty());
}

} // namespace
} // namespace fathom
