#include "core/model/resources.hpp"

#include <gmock/gmock.h>

namespace fathom {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::vector<std::string> wrong_fields_of(const std::string& document)
{
    const Result<std::vector<UnitCut>> cuts = parse_resource_document(parse_json(document).value());
    std::vector<std::string> fields;
    if (cuts) return fields;
    const Error error = cuts.error();
    for (const FieldError& field : error.fields)
        fields.push_back(field.field);
    return fields;
}

TEST(ResourceDocument, IsWrittenAsItWasRead)
{
    const Json document = {{"unit_types",
                            {{{"name", "quad"},
                              {"unit_count", 4},
                              {"cores_per_unit", 4},
                              {"numa", "within"},
                              {"labels", {{"rack", "a3"}}}},
                             {{"name", "node"}, {"numa", "whole"}},
                             {{"name", "part"},
                              {"resource_type", "cuda"},
                              {"cores_per_unit", 0},
                              {"devices_per_unit", 1},
                              {"sharing", "mps"},
                              {"parts_per_device", 4},
                              {"device_model", "H100"},
                              {"memory_bytes_per_unit", 1000},
                              {"operators", {"dgemm"}}}}}};

    const std::vector<UnitCut> cuts = parse_resource_document(document).value();

    EXPECT_EQ(resource_document(cuts), document);
}

TEST(ResourceDocument, NamesEveryFieldThatIsWrong)
{
    EXPECT_THAT(wrong_fields_of(
                    R"({"unit_types": [{"name": "a", "run_as": "root"}, {"name": "a", "cores_per_unit": 0}], "x": 1})"),
                ElementsAre("unit_types[0].run_as", "unit_types[1].cores_per_unit", "unit_types[1].name", "x"));
    EXPECT_THAT(wrong_fields_of(R"({})"), ElementsAre("unit_types"));
    EXPECT_THAT(wrong_fields_of(R"({"unit_types": [{"name": "a", "labels": {"b": "c\n", "": "d"}}]})"),
                testing::UnorderedElementsAre("unit_types[0].labels.b", "unit_types[0].labels."));
}

TEST(ResourceDocument, OfANewerServerIsReadByAnAgentWithoutWhatIsNew)
{
    const Json json = {{"version", 3}, {"unit_types", {{{"name", "a"}, {"from_the_future", 1}}}}};
    std::vector<FieldError> errors;
    ObjectReader reader(json, "", errors);

    const ResourceOrder order = read_resource_order(reader, errors);

    EXPECT_TRUE(errors.empty());
    EXPECT_EQ(order.unit_types.at(0).name, "a");
}

} // namespace
} // namespace fathom
