#include "cli/centers/resource_document.hpp"
#include "core/base/yaml.hpp"

#include <gtest/gtest.h>

namespace fathom::cli {
namespace {

TEST(ResourceDocument, YamlReadsAsTheDocumentThatItWasWrittenFrom)
{
    const Json document = {
        {"unit_types",
         {{{"name", "quad"},
           {"unit_count", 4},
           {"labels", {{"rack", "a3"}, {"odd: key", "yes"}}},
           {"operators", {"dgemm"}}},
          {{"name", "7"}, {"device_model", "H100 \"80\"\n#"}, {"empty", Json::array()}, {"none", Json::object()}}}}};

    const std::string yaml = write_yaml(document);

    EXPECT_EQ(parse_yaml(yaml).value(), document) << yaml;
    EXPECT_TRUE(yaml.starts_with("unit_types:\n  - name: quad\n    labels:\n")) << yaml;
}

TEST(ResourceDocument, AnEmptyOneIsWrittenToo)
{
    EXPECT_EQ(write_yaml({{"unit_types", Json::array()}}), "unit_types: []\n");
}

TEST(LineDifference, ShowsWhatGoesAndWhatComesInPlace)
{
    EXPECT_EQ(line_difference("a\nb\nc\n", "a\nx\nc\nd\n"), "  a\n- b\n+ x\n  c\n+ d\n");
    EXPECT_EQ(line_difference("a\n", "a\n"), "");
    EXPECT_EQ(line_difference("", "a\n"), "+ a\n");
}

} // namespace
} // namespace fathom::cli
