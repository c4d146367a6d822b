#pragma once

#include <string>
#include <string_view>

namespace fathom {

inline constexpr std::size_t kHmacBytes = 32;

/// HMAC-SHA256 (RFC 2104): kHmacBytes bytes that only who has the key can compute.
std::string hmac_sha256(std::string_view key, std::string_view text);

/// Whether two digests are the same, in a time that does not tell where they differ.
bool is_same_digest(std::string_view one, std::string_view other);

} // namespace fathom
