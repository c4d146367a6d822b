#pragma once

#include "core/base/result.hpp"

#include <string>
#include <string_view>

namespace fathom::server {

/// Argon2id of a password with a new salt, in its encoded form ("$argon2id$v=19$m=…"). Takes about 30 ms and 19 MiB,
/// by purpose: call it on a thread for computing. Costs: RFC 9106 with what OWASP's cheat sheet asks at least.
/// @error kUnavailable  there is not the memory.
Result<std::string> hash_password(std::string_view password);

/// Whether the password is the one that was hashed; as expensive, whatever comes out. False for what is no hash.
bool password_matches(const std::string& hash, std::string_view password);

} // namespace fathom::server
