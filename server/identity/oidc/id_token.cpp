#include "server/identity/oidc/id_token.hpp"

#include "core/base/base64url.hpp"

#include <algorithm>
#include <optional>

namespace fathom::server {
namespace {

constexpr double kGrace_s = 60; ///< between the provider's clock and ours
constexpr std::size_t kMaxTokenBytes = 64UL << 10U;
constexpr std::size_t kMaxSubjectBytes = 255;

Error bad_token(std::string_view what)
{
    return Error{Errc::kInvalid, "the ID token " + std::string(what)};
}

/// An object in base64url; null when it is none.
Json object_of(std::string_view part)
{
    const std::optional<std::string> text = base64url_decode(part);
    if (!text) return nullptr;
    Result<Json> json = parse_json(*text, {.max_bytes = kMaxTokenBytes, .max_depth = 16});
    if (!json || !json->is_object()) return nullptr;
    return std::move(*json);
}

/// The text of a member; empty when there is none.
std::string text_in(const Json& object, const char* name)
{
    const auto found = object.find(name);
    return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

std::optional<double> seconds_in(const Json& object, const char* name)
{
    const auto found = object.find(name);
    if (found == object.end() || !found->is_number()) return std::nullopt;
    return found->get<double>();
}

/// `aud` is a text, or a list of texts.
Result<void> check_audience(const Json& claims, const std::string& client_id)
{
    const auto audience = claims.find("aud");
    if (audience == claims.end()) return bad_token("names no audience");
    const bool is_list = audience->is_array();
    const bool is_ours =
        is_list ? std::ranges::find(*audience, Json(client_id)) != audience->end() : *audience == Json(client_id);
    if (!is_ours) return bad_token("is for another client");
    const bool has_party = claims.contains("azp");
    if (is_list && audience->size() > 1 && !has_party) return bad_token("has several audiences and no azp");
    if (has_party && text_in(claims, "azp") != client_id) return bad_token("was made for another client (azp)");
    return {};
}

Result<void> check_times(const Json& claims, Timestamp now)
{
    const double now_s = std::chrono::duration<double>(now.time_since_epoch()).count();
    const std::optional<double> expires = seconds_in(claims, "exp");
    const std::optional<double> issued = seconds_in(claims, "iat");
    const std::optional<double> not_before = seconds_in(claims, "nbf");
    if (!expires || !issued) return bad_token("does not say when it was made and until when it is good");
    if (now_s > *expires + kGrace_s) return bad_token("has expired; compare the clocks");
    if (*issued > now_s + kGrace_s) return bad_token("is from the future; compare the clocks");
    if (not_before && *not_before > now_s + kGrace_s) return bad_token("is not good yet; compare the clocks");
    return {};
}

} // namespace

Result<SignedToken> parse_signed_token(std::string_view compact)
{
    if (compact.size() > kMaxTokenBytes) return bad_token("is too large");
    const std::size_t first = compact.find('.');
    const std::size_t second = first == std::string_view::npos ? first : compact.find('.', first + 1);
    if (second == std::string_view::npos) return bad_token("is no JSON Web Token");
    const Json header = object_of(compact.substr(0, first));
    SignedToken token;
    token.claims = object_of(compact.substr(first + 1, second - first - 1));
    std::optional<std::string> signature = base64url_decode(compact.substr(second + 1));
    if (header.is_null() || token.claims.is_null() || !signature) return bad_token("is no JSON Web Token");
    if (header.contains("crit")) return bad_token("has a header that must be understood and is not (crit)");
    token.algorithm = text_in(header, "alg");
    token.key_id = text_in(header, "kid");
    token.signed_part = compact.substr(0, second);
    token.signature = std::move(*signature);
    return token;
}

Result<void> check_claims(const Json& claims, const ExpectedToken& expected)
{
    if (text_in(claims, "iss") != expected.issuer) return bad_token("is from another issuer");
    if (Result<void> good = check_audience(claims, expected.client_id); !good) return good;
    if (Result<void> good = check_times(claims, expected.now); !good) return good;
    if (expected.nonce.empty() || text_in(claims, "nonce") != expected.nonce)
        return bad_token("is for another sign-in (nonce)");
    const std::string subject = text_in(claims, "sub");
    const auto is_control = [](char c) { return static_cast<unsigned char>(c) < 0x20; };
    if (subject.empty() || subject.size() > kMaxSubjectBytes || std::ranges::any_of(subject, is_control))
        return bad_token("says of nobody who it is (sub)");
    return {};
}

} // namespace fathom::server
