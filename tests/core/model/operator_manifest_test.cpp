#include "core/model/operator_manifest.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace fathom {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

Json manifest_json()
{
    return Json::parse(R"json({"id": "dgemm", "version": 2, "category": "hpc", "description": "product",
        "parameters": [{"name": "m", "min": 1, "max": 100, "default": 10},
                       {"name": "k", "min": 2, "max": 50, "default": 20}],
        "inputs": ["A"], "outputs": ["C"], "operation_count": "2*m*k", "byte_count": "8*(m+k)",
        "truth": "known", "tolerance": 1e-12, "precision": "fp64",
        "implementations": [{"resource_type": "cpu", "library": "openblas"}],
        "signature": {"symbols": ["dgemm_"], "argument_kinds": ["matrix_fp64"]}})json");
}

std::vector<std::string> wrong_fields(const Json& json)
{
    const Result<OperatorManifest> manifest = parse_operator_manifest(json);
    std::vector<std::string> fields;
    if (manifest) return fields;
    const Error error = manifest.error();
    EXPECT_EQ(error.code, Errc::kInvalid);
    for (const FieldError& field : error.fields)
        fields.push_back(field.field);
    return fields;
}

TEST(OperatorManifest, IsReadAndWrittenWithoutLoss)
{
    const Result<OperatorManifest> manifest = parse_operator_manifest(manifest_json());
    ASSERT_TRUE(manifest) << describe(manifest.error());

    const Result<OperatorManifest> again = parse_operator_manifest(to_json(*manifest));

    ASSERT_TRUE(again) << describe(again.error());
    EXPECT_EQ(to_json(*again), to_json(*manifest));
    EXPECT_EQ(again->version, 2);
    EXPECT_EQ(again->default_parameters(), (Parameters{{"k", 20}, {"m", 10}}));
    EXPECT_TRUE(again->runs_on("cpu"));
    EXPECT_FALSE(again->runs_on("cuda"));
}

TEST(OperatorManifest, MustHaveItsFieldsAndNoOthers)
{
    Json json = manifest_json();
    json.erase("category");
    json["tolerance"] = 2;
    json["colour"] = "red";

    EXPECT_THAT(wrong_fields(json), testing::UnorderedElementsAre("category", "tolerance", "colour"));
}

TEST(OperatorManifest, MustHaveAnIdentifier)
{
    for (const char* const wrong : {"", "DGEMM", "9x", "a b", "a-b"}) {
        Json json = manifest_json();
        json["id"] = wrong;
        EXPECT_THAT(wrong_fields(json), ElementsAre("id")) << wrong;
    }
}

TEST(OperatorManifest, MustHaveSensibleRanges)
{
    Json json = manifest_json();
    json["parameters"][1]["default"] = 51;

    EXPECT_THAT(wrong_fields(json), ElementsAre("parameters[1].default"));
}

TEST(OperatorManifest, MustHaveFormulasThatHoldInTheWholeRange)
{
    Json json = manifest_json();
    json["operation_count"] = "2*m*x";
    json["byte_count"] = "8/(k-2)"; // infinite at the least k
    EXPECT_THAT(wrong_fields(json), ElementsAre("operation_count", "byte_count"));

    json = manifest_json();
    json["operation_count"] = "m - 50"; // negative at the default
    EXPECT_THAT(wrong_fields(json), ElementsAre("operation_count"));
}

TEST(WorkOf, IsOneAtLeastWhereTheFormulasHaveNoValue)
{
    OperatorManifest manifest = parse_operator_manifest(manifest_json()).value();
    manifest.operation_count = "2*m^3/(m-7)";
    manifest.byte_count = "8/(m-7)";

    EXPECT_EQ(work_of(manifest, {{"m", 7}, {"k", 20}}), 1.0);
    EXPECT_EQ(work_of(manifest, {{"m", 8}, {"k", 20}}), 1024.0);
}

TEST(CompleteParameters, FillsDefaultsAndChecksNamesAndRanges)
{
    const OperatorManifest manifest = parse_operator_manifest(manifest_json()).value();
    std::vector<FieldError> errors;

    EXPECT_EQ(complete_parameters(manifest, {{"m", 7}}, "p", errors), (Parameters{{"k", 20}, {"m", 7}}));
    EXPECT_THAT(errors, IsEmpty());

    complete_parameters(manifest, {{"m", 101}, {"size", 1}}, "p", errors);
    ASSERT_EQ(errors.size(), 2U);
    EXPECT_EQ(errors[0].field, "p.m");
    EXPECT_EQ(errors[1].field, "p.size");
}

TEST(ParseParameters, TakesWholeNumbersOnly)
{
    std::vector<FieldError> errors;

    EXPECT_EQ(parse_parameters(Json::parse(R"({"m": 3})"), "p", errors), (Parameters{{"m", 3}}));
    EXPECT_THAT(errors, IsEmpty());
    parse_parameters(Json::parse(R"({"m": 1.5, "n": "4", "k": -1})"), "p", errors);
    EXPECT_EQ(errors.size(), 3U);
}

} // namespace
} // namespace fathom
