#include "core/model/probe_task.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace fathom {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

OperatorUse step(const std::string& label, std::vector<std::string> inputs = {})
{
    OperatorUse use;
    use.id = "dgemm";
    use.label = label;
    use.inputs = std::move(inputs);
    return use;
}

std::vector<std::string> errors_of(const std::vector<OperatorUse>& uses)
{
    std::vector<FieldError> errors;
    check_data_flow(uses, "operators", errors);
    std::vector<std::string> texts;
    for (const FieldError& error : errors)
        texts.push_back(error.field + " " + error.detail);
    return texts;
}

TEST(DataFlow, OrderPutsProducersFirst)
{
    const std::vector<OperatorUse> uses{step("P3", {"P1", "P2"}), step("P1"), step("P2"), step("")};

    EXPECT_THAT(errors_of(uses), IsEmpty());
    EXPECT_THAT(data_flow_order(uses), ElementsAre(1, 2, 3, 0));
}

TEST(DataFlow, WithoutLabelsKeepsTheGivenOrder)
{
    EXPECT_THAT(data_flow_order({step(""), step(""), step("")}), ElementsAre(0, 1, 2));
}

TEST(DataFlow, EveryErrorIsNamed)
{
    EXPECT_THAT(errors_of({step("a"), step("a")}), ElementsAre("operators[1].label stands there twice: a"));
    EXPECT_THAT(errors_of({step("a", {"x"}), step("b", {"y"})}),
                ElementsAre("operators[0].inputs there is no operator labelled x",
                            "operators[1].inputs there is no operator labelled y"));
    EXPECT_THAT(errors_of({step("a", {"b"}), step("b", {"a"}), step("c")}),
                ElementsAre("operators[0].inputs computes on its own results: a cycle",
                            "operators[1].inputs computes on its own results: a cycle"));
    EXPECT_THAT(errors_of({step("a", {"a"})}), ElementsAre("operators[0].inputs computes on its own results: a cycle"));
}

TEST(DataFlow, ATaskWithACycleIsRefused)
{
    const Result<ProbeTask> task = parse_probe_task(Json::parse(R"({"name": "t", "operators": [
        {"id": "dgemm", "label": "a", "inputs": ["b"]}, {"id": "dgemm", "label": "b", "inputs": ["a"]}]})"));

    ASSERT_FALSE(task);
    EXPECT_EQ(task.error().fields.size(), 2U);
}

TEST(DataFlow, IsReadAndWrittenWithoutLoss)
{
    const Json json = Json::parse(R"({"name": "t", "repeats": 7, "min_sample_s": 0.02, "limit_s": 10.0,
        "target_interval": 0.03, "sample_budget_s": 0.0, "seed": 0, "operators": [
        {"id": "dgemm", "parameters": {}, "count": 3, "label": "P1", "share": 0.5},
        {"id": "dgemm", "parameters": {}, "count": 1, "inputs": ["P1"], "remainder": "memory"}]})");

    const Result<ProbeTask> task = parse_probe_task(json);

    ASSERT_TRUE(task) << describe(task.error());
    EXPECT_EQ(to_json(*task), json);
}

TEST(SizeClass, IsTheNearestByWork)
{
    const Json json = Json::parse(R"({"id": "cube", "category": "hpc", "description": "d",
        "parameters": [{"name": "n", "min": 1, "max": 10000, "default": 100}],
        "operation_count": "n^3", "byte_count": "n^2", "truth": "t", "tolerance": 0, "precision": "fp64",
        "implementations": [{"resource_type": "cpu", "library": "own"}],
        "size_classes": [{"name": "small", "parameters": {"n": 10}}, {"name": "large", "parameters": {"n": 1000}}]})");
    const Result<OperatorManifest> manifest = parse_operator_manifest(json);

    ASSERT_TRUE(manifest) << describe(manifest.error());
    EXPECT_EQ(size_class_of(*manifest, {{"n", 1}})->name, "small");
    EXPECT_EQ(size_class_of(*manifest, {{"n", 99}})->name, "small");
    EXPECT_EQ(size_class_of(*manifest, {{"n", 101}})->name, "large");
    EXPECT_EQ(to_json(*manifest)["size_classes"], json["size_classes"]);
}

TEST(SizeClass, MustGrowAndLieInRange)
{
    const Result<OperatorManifest> manifest = parse_operator_manifest(Json::parse(R"({"id": "cube", "category": "hpc",
        "description": "d", "parameters": [{"name": "n", "min": 1, "max": 100, "default": 100}],
        "operation_count": "n^3", "byte_count": "n^2", "truth": "t", "tolerance": 0, "precision": "fp64",
        "implementations": [{"resource_type": "cpu", "library": "own"}],
        "size_classes": [{"name": "a", "parameters": {"n": 50}}, {"name": "b", "parameters": {"n": 10}}]})"));

    ASSERT_FALSE(manifest);
    EXPECT_EQ(manifest.error().fields.at(0).field, "size_classes[1]");
}

Result<OperatorManifest> with_cache_rule(const std::string& rule)
{
    return parse_operator_manifest(Json::parse(R"({"id": "copy", "category": "memory", "description": "d",
        "parameters": [{"name": "n", "min": 1, "max": 1000, "default": 100}],
        "operation_count": "0", "byte_count": "16*n", "truth": "t", "tolerance": 0, "precision": "fp64",
        "implementations": [{"resource_type": "cpu", "library": "own"}], "cache_rule": )" +
                                               rule + "}"));
}

TEST(CacheRule, IsReadAndWrittenWithoutLoss)
{
    const std::string rule =
        R"({"array_bytes": "8*n", "memory_bytes": "16*n", "least_multiple": 3.0, "larger_sizes": [{"n": 200}]})";
    const Result<OperatorManifest> manifest = with_cache_rule(rule);
    const Result<OperatorManifest> shortest = with_cache_rule(R"({"array_bytes": "8*n", "memory_bytes": "16*n"})");

    ASSERT_TRUE(manifest) << describe(manifest.error());
    EXPECT_EQ(manifest->cache_rule->larger_sizes.at(0), (Parameters{{"n", 200}}));
    EXPECT_EQ(to_json(*manifest)["cache_rule"], Json::parse(rule));
    ASSERT_TRUE(shortest) << describe(shortest.error());
    EXPECT_EQ(shortest->cache_rule->least_multiple, 4) << "STREAM's";
    EXPECT_FALSE(to_json(*with_cache_rule("null")).contains("cache_rule"));
}

TEST(WorkingSet, IsReadAndWrittenWithoutLossAndLeftOutForAgents)
{
    const Json plain = to_json(with_cache_rule(R"({"array_bytes": "8*n", "memory_bytes": "16*n"})").value());
    Json json = plain;
    json["working_set"] = {{"bytes", "64*n"}, {"parts", "max(n/4, 1)"}};
    Result<OperatorManifest> manifest = parse_operator_manifest(json);

    ASSERT_TRUE(manifest) << describe(manifest.error());
    EXPECT_EQ(to_json(*manifest), json);
    leave_out_own_fields(*manifest);
    EXPECT_FALSE(to_json(*manifest).contains("working_set"));
    EXPECT_FALSE(to_json(*manifest).contains("cache_rule"));
    json["working_set"]["parts"] = "walks";
    EXPECT_EQ(parse_operator_manifest(json).error().fields.at(0).field, "working_set.parts");
}

TEST(CacheRule, WantsFormulasThatHaveValuesAndSizesThatGrowWithinTheRange)
{
    const auto field_of = [](const std::string& rule) {
        const Result<OperatorManifest> manifest = with_cache_rule(rule);
        return manifest || manifest.error().fields.empty() ? std::string() : manifest.error().fields[0].field;
    };

    EXPECT_EQ(field_of(R"({"array_bytes": "8*m", "memory_bytes": "16*n"})"), "cache_rule.array_bytes");
    EXPECT_EQ(field_of(R"({"array_bytes": "8*n"})"), "cache_rule.memory_bytes");
    EXPECT_EQ(field_of(R"({"array_bytes": "8*n", "memory_bytes": "16*n", "larger_sizes": [{"n": 100}]})"),
              "cache_rule.larger_sizes[0]");
    EXPECT_EQ(field_of(R"({"array_bytes": "8*n", "memory_bytes": "16*n", "larger_sizes": [{"n": 300}, {"n": 200}]})"),
              "cache_rule.larger_sizes[1]");
    EXPECT_EQ(field_of(R"({"array_bytes": "8*n", "memory_bytes": "16*n", "larger_sizes": [{"n": 2000}]})"),
              "cache_rule.larger_sizes[0].n");
}

} // namespace
} // namespace fathom
