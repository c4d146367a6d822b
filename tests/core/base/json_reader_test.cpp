#include "core/base/json_reader.hpp"

#include <gtest/gtest.h>

namespace fathom {
namespace {

std::vector<std::string> fields_of(const std::vector<FieldError>& errors)
{
    std::vector<std::string> fields;
    for (const FieldError& error : errors)
        fields.push_back(error.field);
    return fields;
}

TEST(ParseJson, RefusesWhatIsNotJson)
{
    for (const char* text : {"", "{", "[1,]", "{\"a\":1,}", "nan", "NaN", "{\"a\":Infinity}", "1e999", "\"\xff\"",
                             "{\"a\" 1}", "{} {}", "'a'"}) {
        const Result<Json> json = parse_json(text);
        ASSERT_FALSE(json) << text;
        EXPECT_EQ(json.error().code, Errc::kInvalid) << text;
    }
}

TEST(ParseJson, BoundsNestingBeforeItBuildsATree)
{
    const std::string deep = std::string(100000, '[') + std::string(100000, ']');

    const Result<Json> json = parse_json(deep);

    ASSERT_FALSE(json);
    EXPECT_EQ(json.error().detail, "nested deeper than 32 levels");
    EXPECT_TRUE(parse_json("[\"[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[\"]"))
        << "brackets in strings do not nest";
}

TEST(ParseJson, BoundsTheSize)
{
    const Result<Json> json = parse_json("[1, 2, 3]", {.max_bytes = 4});

    ASSERT_FALSE(json);
    EXPECT_EQ(json.error().code, Errc::kTooLarge);
}

TEST(ObjectReader, ReadsAFieldByItsFormerNameWhereOnlyThatIsThere)
{
    std::vector<FieldError> errors;
    const auto read = [&](const Json& json) {
        ObjectReader reader(json, "", errors);
        const double similarity = reader.required_number(reader.name_or_former("similarity", "likeness"), 0, 1);
        reader.finish(UnknownFields::kReject);
        return similarity;
    };

    EXPECT_EQ(read({{"similarity", 0.5}}), 0.5);
    EXPECT_EQ(read({{"likeness", 0.25}}), 0.25);
    EXPECT_TRUE(errors.empty());

    read(Json::object());
    read({{"similarity", 0.5}, {"likeness", 0.25}});
    EXPECT_EQ(fields_of(errors), (std::vector<std::string>{"similarity", "likeness"}))
        << "one that lacks is missed by its name of now; both at once are not of one version";
}

TEST(ObjectReader, GathersEveryError)
{
    const Json json = {{"name", 7}, {"count", 1.5}, {"speed", "fast"}, {"color", "red"}, {"surprise", true}};
    std::vector<FieldError> errors;
    ObjectReader reader(json, "job", errors);

    reader.required_string("name", {});
    reader.required_integer("count", 1, 10);
    reader.optional_number("speed", 0, 1);
    reader.required_string("missing", {});
    reader.optional_string("color", {.one_of = {"blue", "green"}});
    reader.finish(UnknownFields::kReject);

    EXPECT_EQ(fields_of(errors), (std::vector<std::string>{"job.name", "job.count", "job.speed", "job.missing",
                                                           "job.color", "job.surprise"}));
    EXPECT_EQ(errors[4].detail, "must be one of \"blue\", \"green\"");
}

TEST(ObjectReader, KeepsIntegersInRange)
{
    const Json json = Json::parse(R"({"a": 18446744073709551615, "b": -1, "c": 11, "d": 10})");
    std::vector<FieldError> errors;
    ObjectReader reader(json, "", errors);

    for (const char* name : {"a", "b", "c"})
        reader.required_integer(name, 0, 10);
    EXPECT_EQ(errors.size(), 3U);
    EXPECT_EQ(reader.required_integer("d", 0, 10), 10);
    EXPECT_EQ(errors.size(), 3U);
}

TEST(ObjectReader, RefusesNulCharactersInStrings)
{
    const Json json = {{"name", std::string("a\0b", 3)}};
    std::vector<FieldError> errors;
    ObjectReader reader(json, "", errors);

    reader.required_string("name", {});

    EXPECT_EQ(fields_of(errors), std::vector<std::string>{"name"});
}

TEST(ObjectReader, ReportsSomethingThatIsNoObject)
{
    std::vector<FieldError> errors;
    ObjectReader reader(Json::array(), "body", errors);

    EXPECT_FALSE(reader.has("x"));
    ASSERT_EQ(errors.size(), 1U);
    EXPECT_EQ(errors[0].detail, "must be an object, not array");
}

TEST(ObjectReader, NullCountsAsMissing)
{
    const Json json = {{"name", nullptr}};
    std::vector<FieldError> errors;
    ObjectReader reader(json, "", errors);

    EXPECT_FALSE(reader.optional_string("name", {}).has_value());
    EXPECT_TRUE(errors.empty());
}

TEST(ObjectReader, StopsAtAHundredErrors)
{
    Json json = Json::object();
    for (int i = 0; i < 500'000; ++i)
        json["field" + std::to_string(i)] = i;
    std::vector<FieldError> errors;
    ObjectReader reader(json, "", errors);

    reader.finish(UnknownFields::kReject);

    ASSERT_EQ(errors.size(), 101U);
    EXPECT_EQ(errors.back().detail, "there are more errors than are listed here");
}

} // namespace
} // namespace fathom
