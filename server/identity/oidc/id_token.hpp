#pragma once

#include "core/base/clock.hpp"
#include "core/base/json_reader.hpp"

#include <string>
#include <string_view>

namespace fathom::server {

/// A JSON Web Token, taken apart and not yet believed.
struct SignedToken {
    std::string algorithm;
    std::string key_id;      ///< empty: it names none
    std::string signed_part; ///< what the signature is over
    std::string signature;   ///< bytes
    Json claims;
};

/// Reads `HEADER.CLAIMS.SIGNATURE`.
/// @error kInvalid  it is none, or asks for what is not known here (`crit`).
Result<SignedToken> parse_signed_token(std::string_view compact);

/// What an ID token must be for.
struct ExpectedToken {
    std::string issuer;
    std::string client_id;
    std::string nonce; ///< of this sign-in
    Timestamp now{};
};

/// OpenID Connect Core, section 3.1.3.7, without the signature: issuer, audience, authorized party, times with a
/// minute's grace, nonce, and a subject.
/// @error kInvalid  with what does not fit.
Result<void> check_claims(const Json& claims, const ExpectedToken& expected);

} // namespace fathom::server
