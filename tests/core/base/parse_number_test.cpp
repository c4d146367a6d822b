#include "core/base/parse_number.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <string_view>

namespace fathom {
namespace {

TEST(ParseNumber, TakesTheWholeTextOrNothing)
{
    EXPECT_EQ(parse_number<std::int64_t>("-42"), -42);
    EXPECT_EQ(parse_number<unsigned>("7"), 7U);
    EXPECT_EQ(parse_number<double>("1.5e3"), 1500.0);
    for (const char* const none : {"", " 1", "1 ", "+1", "1x", "0x10", "one", "9223372036854775808"})
        EXPECT_EQ(parse_number<std::int64_t>(none), std::nullopt) << none;
    EXPECT_EQ(parse_number<unsigned>("-1"), std::nullopt);
    EXPECT_EQ(parse_number<std::uint16_t>("65536"), std::nullopt);
    for (const char* const none : {"inf", "nan", "1e999", "1.5 ", "."})
        EXPECT_EQ(parse_number<double>(none), std::nullopt) << none;
}

TEST(TakeNumber, TakesANumberOffTheFrontAndLeavesTheRest)
{
    std::string_view text = "12,-7 rest";
    EXPECT_EQ(take_number<std::int64_t>(text), 12);
    EXPECT_EQ(text, ",-7 rest");
    EXPECT_EQ(take_number<std::int64_t>(text), std::nullopt);
    EXPECT_EQ(text, ",-7 rest");
    text.remove_prefix(1);
    EXPECT_EQ(take_number<std::int64_t>(text), -7);
    EXPECT_EQ(text, " rest");
    std::string_view endless = "inf";
    EXPECT_EQ(take_number<double>(endless), std::nullopt);
    EXPECT_EQ(endless, "inf");
}

} // namespace
} // namespace fathom
