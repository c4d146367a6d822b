#include "core/base/hmac.hpp"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

#include <array>
#include <string>
#include <string_view>

namespace fathom {

std::string hmac_sha256(std::string_view key, std::string_view text)
{
    std::array<unsigned char, kHmacBytes> digest{};
    unsigned size = 0;
    ::HMAC(::EVP_sha256(), key.data(), static_cast<int>(key.size()),
           reinterpret_cast<const unsigned char*>(text.data()), text.size(), digest.data(), &size);
    return {reinterpret_cast<const char*>(digest.data()), size};
}

bool is_same_digest(std::string_view one, std::string_view other)
{
    return one.size() == other.size() && ::CRYPTO_memcmp(one.data(), other.data(), one.size()) == 0;
}

} // namespace fathom
