// What a declaration of a message says of its fields: the same for who writes them and for who reads them.

#include "schema/link/fields.hpp"

#include <gmock/gmock.h>

namespace fathom::link {
namespace {

struct Part {
    std::string name;
    std::int64_t count{};
    bool operator==(const Part&) const = default;
};

struct Sample {
    std::string always;
    std::string may_lack;
    std::string if_any;
    std::optional<std::string> if_told;
    std::int64_t count{};
    std::int64_t more{};
    bool is_set{};
    std::vector<Part> parts;
    std::optional<Part> part;
    std::string data;
    std::optional<Error> error;
};

struct DeclarePart {
    template <class Fields, class Self>
    void operator()(Fields& fields, Self& part) const
    {
        fields.text("name", part.name, {.min_length = 1, .max_length = 4});
        fields.integer("count", part.count, 0, 9);
    }
};

template <class Fields, class Self>
void declare(Fields& fields, Self& sample)
{
    fields.text("always", sample.always, {.max_length = 8});
    fields.text_or_empty("may_lack", sample.may_lack, {.max_length = 8});
    fields.text_if_any("if_any", sample.if_any, {.max_length = 8});
    fields.optional_text("if_told", sample.if_told, {.max_length = 8});
    fields.integer("count", sample.count, 1, 9);
    fields.integer_if_any("more", sample.more, 9);
    fields.flag_if_set("is_set", sample.is_set);
    fields.items("parts", sample.parts, 2, DeclarePart{});
    fields.optional_object("part", sample.part, DeclarePart{});
    fields.bytes("data", sample.data, 3);
    fields.error_if_any("error", sample.error,
                        {.known = Errc::kNotFound, .others = Errc::kInternal, .min_detail = 0, .max_detail = 8});
    fields.require(sample.always != "never", "always", "must not be never");
}

Json written(const Sample& sample)
{
    Json json = Json::object();
    FieldWriter fields(json);
    declare(fields, sample);
    return json;
}

/// @return what was wrong, in words
std::string read(const Json& json, Sample& sample)
{
    std::vector<FieldError> errors;
    ObjectReader reader(json, "body", errors);
    FieldReader fields(reader, errors);
    declare(fields, sample);
    std::string words;
    for (const FieldError& error : errors)
        words += error.field + " " + error.detail + "\n";
    return words;
}

Sample full()
{
    return {.always = "a",
            .may_lack = "b",
            .if_any = "c",
            .if_told = "",
            .count = 3,
            .more = 4,
            .is_set = true,
            .parts = {{"x", 1}, {"y", 2}},
            .part = Part{"z", 3},
            .data = std::string("\0\xff!", 3),
            .error = Error{Errc::kNotFound, "gone"}};
}

TEST(Fields, AreReadAsTheyWereWritten)
{
    const Sample sample = full();
    Sample again;

    EXPECT_EQ(read(written(sample), again), "");

    EXPECT_EQ(written(again), written(sample));
    EXPECT_EQ(again.parts, sample.parts);
    EXPECT_EQ(again.part, sample.part);
    EXPECT_EQ(again.data, sample.data);
    EXPECT_EQ(again.error.value().code, Errc::kNotFound);
}

TEST(Fields, ThatAreEmptyAreWrittenOnlyWhereTheDeclarationSaysSo)
{
    const Sample empty{.always = {},
                       .may_lack = {},
                       .if_any = {},
                       .if_told = {},
                       .count = 1,
                       .parts = {},
                       .part = {},
                       .data = {},
                       .error = {}};

    EXPECT_EQ(written(empty),
              (Json{{"always", ""}, {"may_lack", ""}, {"count", 1}, {"parts", Json::array()}, {"data", ""}}));
}

TEST(Fields, ThatAreNotThereAreReadAsEmptyOrAreMissed)
{
    Sample sample;

    EXPECT_EQ(read(Json::object(), sample), "body.always is required\n"
                                            "body.count is required\n"
                                            "body.data is required\n");

    EXPECT_EQ(sample.if_told, std::nullopt);
    EXPECT_TRUE(sample.parts.empty());
    EXPECT_FALSE(sample.part);
    EXPECT_FALSE(sample.error);
}

TEST(Fields, OutsideTheirBoundsAreToldByTheirPlace)
{
    Json json = written(full());
    json["parts"][1]["name"] = "";
    json["part"]["count"] = 10;
    json["data"] = "AAAAAAAA";
    json["always"] = "never";
    Sample sample;

    EXPECT_EQ(read(json, sample), "body.parts[1].name must be 1 to 4 bytes long\n"
                                  "body.part.count must be between 0 and 9\n"
                                  "body.data is not base64, or too long\n"
                                  "body.always must not be never\n");
}

TEST(Fields, AnErrorOfAnotherClassIsTakenForTheOthers)
{
    Json json = written(full());
    json["error"] = {{"code", "of the future"}};
    Sample sample;

    EXPECT_EQ(read(json, sample), "");

    EXPECT_EQ(sample.error.value().code, Errc::kInternal);
    EXPECT_EQ(sample.error.value().detail, "of the future") << "its code, where there is no detail";
}

} // namespace
} // namespace fathom::link
