#include "core/base/yaml.hpp"

#include <gtest/gtest.h>

#include <string>

namespace fathom {
namespace {

TEST(Yaml, ReadsTheCoreSchema)
{
    const Result<Json> json = parse_yaml(R"(
name: si-bulk
count: 3
big: 2.0e9
flag: true
nothing:
quoted: "3"
list: [a, 1, {b: 2}]
text: |
  two
  lines
)");

    ASSERT_TRUE(json) << json.error().detail;
    EXPECT_EQ(*json, Json::parse(R"({"name": "si-bulk", "count": 3, "big": 2e9, "flag": true, "nothing": null,
        "quoted": "3", "list": ["a", 1, {"b": 2}], "text": "two\nlines\n"})"));
    EXPECT_EQ(parse_yaml("+-5").value(), "+-5") << "no number has two signs";
}

TEST(Yaml, RefusesWhatCouldHarm)
{
    EXPECT_FALSE(parse_yaml("a: \xf3")) << "not UTF-8";
    EXPECT_FALSE(parse_yaml("a: &x [1]\nb: *x")) << "aliases";
    EXPECT_FALSE(parse_yaml("a: 1\na: 2")) << "a key that is duplicated";
    EXPECT_FALSE(parse_yaml(std::string(200, '[')));
    EXPECT_FALSE(parse_yaml("a: [1"));
    EXPECT_FALSE(parse_yaml(""));
    const Result<Json> wrong = parse_yaml("a: 1\n b: 2\n");
    ASSERT_FALSE(wrong);
    EXPECT_NE(wrong.error().detail.find("line 2"), std::string::npos) << wrong.error().detail;
}

} // namespace
} // namespace fathom
