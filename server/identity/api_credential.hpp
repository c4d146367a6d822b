#pragma once

#include "core/net/http.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace fathom::server {

inline constexpr std::string_view kApiSecretPrefix = "fth_";
inline constexpr std::string_view kSessionSecretPrefix = "fts_";
/// Browsers take a cookie of this prefix only over TLS, for this host alone and all its paths.
inline constexpr std::string_view kSessionCookie = "__Host-fathom";

/// What a request shows to prove who sends it.
struct ApiCredential {
    enum class Kind {
        kNone,
        kMalformed, ///< an Authorization header that holds no API token
        kToken,     ///< Authorization: Bearer fth_…
        kSession,   ///< the cookie of a browser that is signed in
    };
    Kind kind{Kind::kNone};
    std::string secret; ///< of a token or session
};

/// The form of an API token, whether or not it exists.
bool is_api_secret(std::string_view text);

/// 32 bytes in base64url, as new_secret("") makes them.
bool is_plain_secret(std::string_view text);

/// The value of a cookie in `a=1; b=2`; empty when it is not there.
std::string_view cookie_value(std::string_view cookies, std::string_view name);

/// The Authorization header counts before the cookie.
ApiCredential credential_of(const net::Request& request);
ApiCredential credential_of(std::string_view authorization, std::string_view cookies);

/// What a page of the console must send as X-CSRF-Token with each change: the answer to GET /session tells it, which
/// another site's page cannot read. Derived from the session's secret; nothing is kept.
std::string csrf_token(std::string_view session_secret);

/// Why a request is not believed to come from a page of ours, though a browser sent a session's cookie along: it
/// changes something and has no or a wrong X-CSRF-Token. Empty when there is nothing against it.
std::optional<Error> find_forgery(const net::Request& request, const ApiCredential& credential);

/// True when the browser says that a page of another site sends the request (Sec-Fetch-Site).
bool is_cross_site(const net::Request& request);

} // namespace fathom::server
