#include "server/identity/api_credential.hpp"

#include "core/base/secret.hpp"

#include <openssl/crypto.h>

#include <algorithm>

namespace fathom::server {
namespace {

constexpr std::string_view kScheme = "bearer ";
constexpr std::size_t kSecretLength = 43; // 32 bytes in base64url

bool is_base64url(char c)
{
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
}

bool is_secret(std::string_view text, std::string_view prefix)
{
    return text.size() == prefix.size() + kSecretLength && text.starts_with(prefix) &&
           std::all_of(text.begin(), text.end(), is_base64url);
}

/// The secret of `Bearer SECRET`; empty when the header is something else.
std::string_view bearer_secret(std::string_view authorization)
{
    if (authorization.size() <= kScheme.size()) return {};
    const std::string_view scheme = authorization.substr(0, kScheme.size());
    const auto same = [](char a, char b) { return (a >= 'A' && a <= 'Z' ? a - 'A' + 'a' : a) == b; };
    if (!std::equal(scheme.begin(), scheme.end(), kScheme.begin(), same)) return {};
    std::string_view secret = authorization.substr(kScheme.size());
    while (secret.starts_with(' '))
        secret.remove_prefix(1);
    return secret;
}

bool changes_something(net::Method method)
{
    return method != net::Method::kGet && method != net::Method::kHead && method != net::Method::kOptions;
}

} // namespace

bool is_api_secret(std::string_view text)
{
    return is_secret(text, kApiSecretPrefix);
}

bool is_plain_secret(std::string_view text)
{
    return is_secret(text, "");
}

std::string_view cookie_value(std::string_view cookies, std::string_view name)
{
    while (!cookies.empty()) {
        const std::size_t end = std::min(cookies.find(';'), cookies.size());
        std::string_view pair = cookies.substr(0, end);
        cookies.remove_prefix(std::min(end + 1, cookies.size()));
        while (pair.starts_with(' '))
            pair.remove_prefix(1);
        const std::size_t equals = pair.find('=');
        if (equals != std::string_view::npos && pair.substr(0, equals) == name) return pair.substr(equals + 1);
    }
    return {};
}

ApiCredential credential_of(std::string_view authorization, std::string_view cookies)
{
    using Kind = ApiCredential::Kind;
    if (!authorization.empty()) {
        const std::string_view secret = bearer_secret(authorization);
        if (!is_api_secret(secret)) return {Kind::kMalformed, ""};
        return {Kind::kToken, std::string(secret)};
    }
    const std::string_view secret = cookie_value(cookies, kSessionCookie);
    // A cookie that is none of ours is as good as none: somebody else's pages may have set it.
    if (!is_secret(secret, kSessionSecretPrefix)) return {};
    return {Kind::kSession, std::string(secret)};
}

ApiCredential credential_of(const net::Request& request)
{
    return credential_of(request.header("Authorization"), request.header("Cookie"));
}

std::string csrf_token(std::string_view session_secret)
{
    return sha256_hex("X-CSRF-Token of " + std::string(session_secret));
}

std::optional<Error> find_forgery(const net::Request& request, const ApiCredential& credential)
{
    if (credential.kind != ApiCredential::Kind::kSession || !changes_something(request.method)) return std::nullopt;
    const std::string_view sent = request.header("X-CSRF-Token");
    const std::string expected = csrf_token(credential.secret);
    if (sent.size() == expected.size() && CRYPTO_memcmp(sent.data(), expected.data(), expected.size()) == 0)
        return std::nullopt;
    return Error{Errc::kForbidden, "a change by a session's cookie needs the header X-CSRF-Token, which the answer to "
                                   "GET /api/v1/session names; programs send an API token instead"};
}

bool is_cross_site(const net::Request& request)
{
    const std::string_view site = request.header("Sec-Fetch-Site");
    return !site.empty() && site != "same-origin" && site != "none";
}

} // namespace fathom::server
