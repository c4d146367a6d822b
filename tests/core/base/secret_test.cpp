#include "core/base/secret.hpp"

#include <gtest/gtest.h>

#include <string>

namespace fathom {
namespace {

TEST(Base64, DecodesWhatItEncoded)
{
    for (const std::string& data : {std::string(), std::string("a"), std::string("ab"), std::string("abc"),
                                    std::string("\0\xff\n", 3), std::string(1000, 'x')}) {
        const Base64Decoded decoded = base64_decode(base64_encode(data));
        EXPECT_TRUE(decoded.ok);
        EXPECT_EQ(decoded.data, data);
    }
    EXPECT_FALSE(base64_decode("a").ok);
    EXPECT_FALSE(base64_decode("a$==").ok);
    for (const char* other : {"SG=sbG8=", "SGVsbB==", "====", "    ", "SGVsbG8=\n\n\n\n"})
        EXPECT_FALSE(base64_decode(other).ok) << other;
}

TEST(Sha256, OfAKnownText)
{
    EXPECT_EQ(sha256_hex("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

TEST(Secrets, AreLongAndDiffer)
{
    EXPECT_EQ(new_secret("fth_").size(), 4U + 43U);
    EXPECT_NE(new_secret(""), new_secret(""));
}

} // namespace
} // namespace fathom
