#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace fathom {

/// Fills with cryptographically strong random bytes. Stops the process when the system has none.
void fill_random(std::span<std::uint8_t> bytes);

/// A random bearer secret: `prefix` + 32 random bytes in base64url (43 characters).
std::string new_secret(std::string_view prefix);

/// SHA-256 as 64 lower-case hex digits. Secrets are stored and compared by this only.
std::string sha256_hex(std::string_view data);

/// Standard base64 with padding.
std::string base64_encode(std::string_view data);

/// Empty optional semantics are expressed by `ok`: false when the text is not what base64_encode() writes.
struct Base64Decoded {
    bool ok{};
    std::string data;
};
Base64Decoded base64_decode(std::string_view text);

} // namespace fathom
