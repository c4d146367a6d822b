#include "core/base/csv_field.hpp"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace fathom {
namespace {

TEST(CsvField, OfANameIsNoFormula)
{
    const auto field = [](std::string_view name) {
        std::string text;
        append_csv_name(text, name);
        return text;
    };

    EXPECT_EQ(field("=HYPERLINK(\"https://h\")"), "\"'=HYPERLINK(\"\"https://h\"\")\"");
    for (const char* name : {"+1+1", "-1+1", "@SUM(A1)", "\t=1"})
        EXPECT_EQ(field(name), "'" + std::string(name));
    EXPECT_EQ(field("\r=1"), "\"'\r=1\"");
    for (const char* name : {"", "-1.5", "core", "a=b"})
        EXPECT_EQ(field(name), name);
}

} // namespace
} // namespace fathom
