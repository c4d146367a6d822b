#pragma once

#include "server/identity/oidc/id_token.hpp"

namespace fathom::server {

/// Verifies a token's signature with a key of the provider's JSON Web Key Set: RS256 with 2048 bits or more, or ES256.
/// Nothing else is taken, "none" and shared secrets least of all.
/// @error kNotFound  no key of the set fits; a newer set may have it.
/// @error kInvalid   the signature is wrong, or of another kind.
Result<void> verify_signature(const SignedToken& token, const Json& key_set);

} // namespace fathom::server
