#include "core/base/hex.hpp"

#include <gtest/gtest.h>

#include <string>

namespace fathom {
namespace {

TEST(Hex, HasTwoLowerCaseDigitsForEachByte)
{
    std::string text = "0x";
    for (const int byte : {0x00, 0x0a, 0x7f, 0xff})
        append_hex(text, static_cast<unsigned char>(byte));

    EXPECT_EQ(text, "0x000a7fff");
}

TEST(Hex, ReadsDigitsOfEitherCase)
{
    EXPECT_EQ(parse_hex_byte('0', '0'), 0x00);
    EXPECT_EQ(parse_hex_byte('0', 'a'), 0x0a);
    EXPECT_EQ(parse_hex_byte('7', 'F'), 0x7f);
    EXPECT_EQ(parse_hex_byte('F', 'f'), 0xff);
}

TEST(Hex, ReadsNothingWithoutTwoDigits)
{
    for (const char c : {'g', 'G', ' ', '-', '/', ':', '@', '`', '\0'}) {
        EXPECT_FALSE(parse_hex_byte(c, '0')) << c;
        EXPECT_FALSE(parse_hex_byte('0', c)) << c;
    }
}

} // namespace
} // namespace fathom
