#include "core/base/hex.hpp"
#include "core/base/hmac.hpp"

#include <gtest/gtest.h>

namespace fathom {
namespace {

std::string hex_of(std::string_view bytes)
{
    std::string text;
    for (const char byte : bytes)
        append_hex(text, static_cast<unsigned char>(byte));
    return text;
}

/// RFC 4231, test cases 1 and 2.
TEST(Hmac, IsThatOfTheStandard)
{
    EXPECT_EQ(hex_of(hmac_sha256(std::string(20, '\x0b'), "Hi There")),
              "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7");
    EXPECT_EQ(hex_of(hmac_sha256("Jefe", "what do ya want for nothing?")),
              "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
}

TEST(Hmac, IsTheSameOnlyAsAWhole)
{
    EXPECT_TRUE(is_same_digest("abc", "abc"));
    EXPECT_FALSE(is_same_digest("abc", "abd"));
    EXPECT_FALSE(is_same_digest("abc", "ab"));
    EXPECT_TRUE(is_same_digest("", ""));
}

} // namespace
} // namespace fathom
