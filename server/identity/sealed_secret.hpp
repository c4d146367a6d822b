#pragma once

#include "core/base/result.hpp"

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace fathom::server {

/// With which secrets are encrypted before they go into the database. Never log it.
using SealingKey = std::array<std::uint8_t, 32>;

/// A random one.
SealingKey make_sealing_key();

/// As it stands in a file: 64 hexadecimal digits and a new line, as `openssl rand -hex 32` writes it.
std::string format_sealing_key(const SealingKey& key);

/// White space around it does not count.
/// @error kInvalid  it is something else.
Result<SealingKey> parse_sealing_key(std::string_view text);

/// Encrypts by AES-256-GCM under a fresh nonce: a byte 1 (this form), 12 bytes of nonce, the secret, 16 bytes of tag.
/// The same `context` opens it again, no other: what was sealed for one thing says nothing of another.
Result<std::string> seal(const SealingKey& key, std::string_view secret, std::string_view context);

/// @error kInvalid  it was sealed with another key or context, was changed, or has a form that this program does not
/// know.
Result<std::string> open_sealed(const SealingKey& key, std::string_view sealed, std::string_view context);

} // namespace fathom::server
