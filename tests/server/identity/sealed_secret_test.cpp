#include "server/identity/sealed_secret.hpp"

#include <gtest/gtest.h>

#include <set>

namespace fathom::server {
namespace {

const SealingKey kKey = make_sealing_key();

TEST(SealedSecret, IsOpenedByItsKeyAndContextAlone)
{
    const std::string secret("a secret\0of bytes", 17);
    const std::string sealed = seal(kKey, secret, "certificate").value();

    EXPECT_EQ(open_sealed(kKey, sealed, "certificate").value(), secret);
    EXPECT_EQ(open_sealed(make_sealing_key(), sealed, "certificate").error().code, Errc::kInvalid);
    EXPECT_EQ(open_sealed(kKey, sealed, "another").error().code, Errc::kInvalid);
    EXPECT_EQ(open_sealed(kKey, seal(kKey, "", "").value(), "").value(), "");
}

TEST(SealedSecret, HidesTheSecretAndIsDifferentEachTime)
{
    std::set<std::string> all;
    for (int i = 0; i < 100; ++i)
        all.insert(seal(kKey, "secret", "").value());

    EXPECT_EQ(all.size(), 100U);
    for (const std::string& sealed : all) {
        EXPECT_EQ(sealed.find("secret"), std::string::npos);
        EXPECT_EQ(sealed.size(), 1U + 12U + 6U + 16U);
    }
}

TEST(SealedSecret, NoBitOfItCanBeChanged)
{
    const std::string sealed = seal(kKey, "secret", "").value();

    for (std::size_t i = 0; i < sealed.size() * 8; ++i) {
        std::string changed = sealed;
        changed[i / 8] = static_cast<char>(changed[i / 8] ^ static_cast<char>(1U << i % 8));
        EXPECT_FALSE(open_sealed(kKey, changed, "")) << "bit " << i;
    }
    for (std::size_t size = 0; size < sealed.size(); ++size)
        EXPECT_FALSE(open_sealed(kKey, sealed.substr(0, size), "")) << size << " bytes";
}

TEST(SealingKeyText, IsReadAsItIsWritten)
{
    const std::string text = format_sealing_key(kKey);

    EXPECT_EQ(text.size(), 65U);
    EXPECT_EQ(parse_sealing_key(text).value(), kKey);
    EXPECT_EQ(parse_sealing_key("\t" + text + " \r\n").value(), kKey);
    EXPECT_EQ(parse_sealing_key(std::string(63, 'A') + "b").value()[31], 0xabU);
    for (const std::string& wrong : {std::string(), std::string(" \n"), std::string(63, 'a'), std::string(65, 'a'),
                                     std::string(63, 'a') + "g", "a " + std::string(62, 'a')})
        EXPECT_EQ(parse_sealing_key(wrong).error().code, Errc::kInvalid) << wrong;
}

} // namespace
} // namespace fathom::server
