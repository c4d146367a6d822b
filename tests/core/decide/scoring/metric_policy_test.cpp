#include "core/decide/scoring/metric_policy.hpp"
#include "core/decide/scoring/resolve_policy.hpp"

#include <gmock/gmock.h>

namespace fathom {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// `field: detail` of every fault.
std::vector<std::string> texts_of(const std::vector<FieldError>& fields)
{
    std::vector<std::string> texts;
    for (const FieldError& field : fields)
        texts.push_back(field.field + ": " + field.detail);
    return texts;
}

std::vector<std::string> faults(const Json& document, PolicyRules rules = PolicyRules::kAll)
{
    const Result<MetricPolicy> policy = parse_metric_policy(document, rules);
    return policy ? std::vector<std::string>{} : texts_of(policy.error().fields);
}

Json intervals(const char* steps, double weight = 1)
{
    return {{"id", "x"},
            {"kind", "intervals"},
            {"figures", {{{"figure", "time_s"}, {"weight", weight}, {"steps", Json::parse(steps)}}}}};
}

TEST(MetricPolicyDocument, SurvivesTheWayThroughJson)
{
    for (const char* text : {R"({"id": "i", "kind": "intervals", "figures": [{"figure": "error", "weight": 1,
              "steps": [{"from": 0, "below": 1, "points": 2}, {"points": 1}]}]})",
                             R"({"id": "r", "kind": "relative", "reference_machine": "m", "reference": [
              {"operator": "dgemm", "parameters": {"m": 8, "n": 9}, "operations": 1, "bytes": 2, "median_s": 3}],
              "aggregate": {"categories": {"hpc": 0.5, "ai": 0.5}, "operators": {"hpc": {"dgemm": 1}}}})",
                             R"({"id": "c", "version": 3, "kind": "combined", "policies": [
              {"policy": "i", "weight": 0.5}, {"policy": "r@2", "weight": 0.5}]})"}) {
        const Json written = to_json(parse_metric_policy(Json::parse(text)).value());
        EXPECT_EQ(to_json(parse_metric_policy(written).value()), written);
    }
}

TEST(MetricPolicyDocument, TheShortAndTheLongFormOfIntervalsAreTheSame)
{
    const MetricPolicy brief = parse_metric_policy(intervals(R"([{"below": 2, "points": 5}, {"points": 1}])")).value();
    const MetricPolicy full =
        parse_metric_policy(intervals(R"([{"from": 0, "below": 2, "points": 5}, {"from": 2, "points": 1}])")).value();

    EXPECT_EQ(to_json(brief), to_json(full));
}

TEST(MetricPolicyDocument, EachGapIsNamed)
{
    EXPECT_THAT(faults(intervals(R"([{"from": 1, "below": 2, "points": 5}, {"from": 3, "below": 4, "points": 1}])")),
                ElementsAre("figures[0].steps[0].from: gap: nothing covers [0, 1)",
                            "figures[0].steps[1].from: gap: nothing covers [2, 3)",
                            "figures[0].steps[1].below: must be left out in the last step: nothing covers "
                            "[4, infinity)"));
}

TEST(MetricPolicyDocument, EachOverlapIsNamed)
{
    EXPECT_THAT(faults(intervals(R"([{"below": 2, "points": 5}, {"from": 1, "below": 4, "points": 1},
                                     {"from": 3, "points": 0}])")),
                ElementsAre("figures[0].steps[1].from: overlap: [1, 2) is covered twice",
                            "figures[0].steps[2].from: overlap: [3, 4) is covered twice"));
}

TEST(MetricPolicyDocument, StepsMustAscendAndEndOpen)
{
    EXPECT_THAT(faults(intervals(R"([{"below": 2, "points": 1}, {"below": 1, "points": 2}])")),
                ElementsAre("figures[0].steps[1].below: must be greater than 2, where it begins",
                            HasSubstr("figures[0].steps[1].below: must be left out in the last step")));
    EXPECT_THAT(faults(intervals(R"([{"points": 1}, {"below": 1, "points": 2}, {"points": 0}])"))[0],
                HasSubstr("figures[0].steps[0].below: is required"));
}

TEST(MetricPolicyDocument, WeightsMustSumToOneAndTheSumIsSaid)
{
    EXPECT_THAT(faults(intervals(R"([{"points": 1}])", 0.9)),
                ElementsAre("figures: the weights must sum to 1; they sum to 0.9"));
    EXPECT_THAT(faults(intervals(R"([{"points": 1}])", 1 + 1e-10)), IsEmpty());
    EXPECT_THAT(faults(Json::parse(R"({"id": "c", "kind": "combined", "policies": [
                    {"policy": "a", "weight": 0.5}, {"policy": "b", "weight": 0.6}],
                    "aggregate": {"categories": {"hpc": 0.3}, "operators": {"hpc": {"dgemm": 2}}}})")),
                ElementsAre("policies: the weights must sum to 1; they sum to 1.1",
                            "aggregate.categories: the weights must sum to 1; they sum to 0.3",
                            "aggregate.operators.hpc: the weights must sum to 1; they sum to 2"));
}

TEST(MetricPolicyDocument, PointsAndFiguresMustMakeSense)
{
    EXPECT_THAT(faults(intervals(R"([{"below": 1, "points": -1}, {"points": null}])")),
                ElementsAre(HasSubstr("steps[0].points"), HasSubstr("steps[1].points")));
    const Json unknown = Json::parse(R"({"id": "x", "kind": "intervals", "figures": [
        {"figure": "luck", "weight": 0.5, "steps": [{"points": 1}]},
        {"figure": "time_s", "weight": 0.25, "steps": [{"points": 1}]},
        {"figure": "time_s", "weight": 0.25, "steps": [{"points": 1}]}]})");
    EXPECT_THAT(faults(unknown),
                ElementsAre(HasSubstr("figures[0].figure"), "figures[2].figure: stands in the list twice"));
}

TEST(MetricPolicyDocument, AStoredOneNeedsOnlyItsShape)
{
    const Json old = intervals(R"([{"from": 1, "below": 2, "points": -5}, {"from": 3, "points": 1}])", 7);

    EXPECT_FALSE(faults(old).empty());
    EXPECT_THAT(faults(old, PolicyRules::kShape), IsEmpty());
}

TEST(PolicyReference, IsAnIdOrAnIdWithItsVersion)
{
    EXPECT_EQ(parse_policy_reference("a")->version, 0);
    EXPECT_EQ(parse_policy_reference("a@12")->version, 12);
    for (const char* wrong : {"", "@1", "a@", "a@0", "a@x", "a@1x", "a@1@2", "a/b"})
        EXPECT_FALSE(parse_policy_reference(wrong)) << wrong;
}

MetricPolicy combined(const std::string& id, const std::vector<std::string>& parts)
{
    Json policies = Json::array();
    for (const std::string& part : parts)
        policies.push_back({{"policy", part}, {"weight", 1.0 / static_cast<double>(parts.size())}});
    return parse_metric_policy({{"id", id}, {"kind", "combined"}, {"policies", std::move(policies)}}).value();
}

/// The faults of resolving `policy` among `others`, each of version 1.
std::vector<std::string> reference_faults(const MetricPolicy& policy, const std::vector<MetricPolicy>& others)
{
    const Result<MetricPolicy> resolved =
        resolve_policy(policy, [&](const std::string& id, std::int64_t version) -> std::optional<MetricPolicy> {
            for (const MetricPolicy& other : others)
                if (other.id == id && (version == 0 || version == other.version)) return other;
            return std::nullopt;
        });
    return resolved ? std::vector<std::string>{} : texts_of(resolved.error().fields);
}

TEST(ResolvePolicy, EveryCycleIsNamedWithItsWay)
{
    MetricPolicy a = combined("a", {"b", "c"});
    a.version = 2;

    EXPECT_THAT(reference_faults(a, {combined("b", {"a"}), combined("c", {"b@1"})}),
                ElementsAre("policies[0].policy.policies[0].policy: closes a cycle: a@2 -> b@1 -> a@2",
                            "policies[1].policy.policies[0].policy.policies[0].policy: closes a cycle: a@2 -> c@1 -> "
                            "b@1 -> a@2"));
    EXPECT_THAT(reference_faults(combined("a", {"a"}), {}),
                ElementsAre("policies[0].policy: closes a cycle: a@1 -> a@1"));
}

TEST(ResolvePolicy, AnOlderVersionOfItselfIsNoCycle)
{
    MetricPolicy next = combined("a", {"a@1"});
    next.version = 2;
    MetricPolicy first = parse_metric_policy(intervals(R"([{"points": 1}])")).value();
    first.id = "a";

    EXPECT_THAT(reference_faults(next, {first}), IsEmpty());
}

TEST(ResolvePolicy, EveryUnknownPolicyIsNamed)
{
    EXPECT_THAT(reference_faults(combined("a", {"b@2", "d"}), {combined("b", {"a"})}),
                ElementsAre("policies[0].policy: b@2 does not exist", "policies[1].policy: d does not exist"));
}

TEST(ResolvePolicy, WhatItCombinesIsBounded)
{
    std::vector<MetricPolicy> levels{parse_metric_policy(intervals(R"([{"points": 1}])")).value()};
    levels[0].id = "p0";
    for (int i = 1; i <= 20; ++i) {
        const std::string below = "p" + std::to_string(i - 1);
        levels.push_back(combined("p" + std::to_string(i), {below, below}));
    }

    EXPECT_THAT(reference_faults(levels.back(), levels), ElementsAre(HasSubstr("more than 64 policies")));
}

OperatorManifest manifest_of(const std::string& id, const std::string& category)
{
    return parse_operator_manifest(
               {{"id", id},
                {"category", category},
                {"description", "an operator of a test"},
                {"parameters", {{{"name", "n"}, {"min", 1}, {"max", 100}, {"default", 10}, {"description", "n"}}}},
                {"operation_count", "2*n"},
                {"byte_count", "8*n"},
                {"truth", "known"},
                {"tolerance", 1e-12},
                {"precision", "fp64"},
                {"implementations", {{{"resource_type", "cpu"}, {"library", "own"}}}}})
        .value();
}

TEST(CheckAgainstLibrary, FiguresMustBeWhatTheFormulasGive)
{
    const OperatorManifest known = manifest_of("known", "hpc");
    const ManifestLookup library = [&](std::string_view id, std::int64_t) { return id == "known" ? &known : nullptr; };
    const MetricPolicy policy = parse_metric_policy(Json::parse(R"({
        "id": "r", "kind": "relative", "reference_machine": "m", "reference": [
            {"operator": "known", "parameters": {"n": 10}, "operations": 20, "bytes": 80, "median_s": 1},
            {"operator": "known", "parameters": {"n": 20}, "operations": 41, "bytes": 80, "median_s": 1},
            {"operator": "known", "parameters": {"n": 999}, "operations": 20, "bytes": 80, "median_s": 1},
            {"operator": "known", "operations": 20, "bytes": 80, "median_s": 1},
            {"operator": "gone", "operations": 20, "bytes": 80, "median_s": 1}],
        "aggregate": {"operators": {"ai": {"known": 1}, "hpc": {"gone": 1}}}})"))
                                    .value();

    EXPECT_THAT(texts_of(check_against_library(policy, library)),
                ElementsAre("reference[1].operations: must be 40, which the operator's formula 2*n gives",
                            "reference[1].bytes: must be 160, which the operator's formula 8*n gives",
                            HasSubstr("reference[2].parameters.n: "),
                            "reference[3].parameters.n: is required: a size must be complete",
                            "reference[4].operator: the library has no operator gone in use",
                            "aggregate.operators.ai.known: its category is hpc",
                            "aggregate.operators.hpc.gone: the library has no such operator in use"));
}

} // namespace
} // namespace fathom
