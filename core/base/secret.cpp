#include "core/base/secret.hpp"

#include "core/base/base64url.hpp"
#include "core/base/result.hpp"
#include "core/base/sha256.hpp"

#include <openssl/evp.h>
#include <openssl/rand.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace fathom {

void fill_random(std::span<std::uint8_t> bytes)
{
    FATHOM_ASSERT(RAND_bytes(bytes.data(), static_cast<int>(bytes.size())) == 1);
}

std::string new_secret(std::string_view prefix)
{
    std::array<std::uint8_t, 32> bytes{};
    fill_random(bytes);
    return std::string(prefix) + base64url_encode({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

std::string sha256_hex(std::string_view data)
{
    Sha256 digest;
    digest.add(data);
    return digest.hex();
}

std::string base64_encode(std::string_view data)
{
    std::string text((data.size() + 2) / 3 * 4 + 1, '\0');
    const int size =
        EVP_EncodeBlock(reinterpret_cast<unsigned char*>(text.data()),
                        reinterpret_cast<const unsigned char*>(data.data()), static_cast<int>(data.size()));
    text.resize(static_cast<std::size_t>(size));
    return text;
}

Base64Decoded base64_decode(std::string_view text)
{
    if (text.size() % 4 != 0) return {};
    Base64Decoded decoded{true, std::string(text.size() / 4 * 3, '\0')};
    const int size =
        EVP_DecodeBlock(reinterpret_cast<unsigned char*>(decoded.data.data()),
                        reinterpret_cast<const unsigned char*>(text.data()), static_cast<int>(text.size()));
    if (size < 0) return {};
    // EVP_DecodeBlock counts the padding as zero bytes.
    std::size_t padding = 0;
    while (padding < 2 && padding < text.size() && text[text.size() - 1 - padding] == '=')
        ++padding;
    decoded.data.resize(static_cast<std::size_t>(size) - padding);
    // It also takes padding inside, blanks around, and bits that belong to no byte.
    if (base64_encode(decoded.data) != text) return {};
    return decoded;
}

} // namespace fathom
