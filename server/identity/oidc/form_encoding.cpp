#include "server/identity/oidc/form_encoding.hpp"

#include "core/base/base64url.hpp"
#include "core/base/result.hpp"

#include <openssl/evp.h>

#include <array>

namespace fathom::server {

std::string code_challenge(std::string_view code_verifier)
{
    std::array<unsigned char, 32> digest{};
    unsigned size = 0;
    FATHOM_ASSERT(EVP_Digest(code_verifier.data(), code_verifier.size(), digest.data(), &size, EVP_sha256(), nullptr) ==
                  1);
    return base64url_encode({reinterpret_cast<const char*>(digest.data()), size});
}

std::string percent_encode(std::string_view text)
{
    constexpr std::string_view kHex = "0123456789ABCDEF";
    constexpr std::string_view kPlain = "-._~";
    std::string encoded;
    for (const char c : text) {
        const bool is_plain = (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') ||
                              kPlain.find(c) != std::string_view::npos;
        if (is_plain) {
            encoded += c;
            continue;
        }
        const auto byte = static_cast<unsigned char>(c);
        encoded += '%';
        encoded += kHex[byte >> 4U];
        encoded += kHex[byte & 15U];
    }
    return encoded;
}

std::string form_encode(std::initializer_list<std::pair<std::string_view, std::string_view>> fields)
{
    std::string text;
    for (const auto& [name, value] : fields)
        text += (text.empty() ? "" : "&") + percent_encode(name) + "=" + percent_encode(value);
    return text;
}

} // namespace fathom::server
