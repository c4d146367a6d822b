#include "server/identity/oidc/identity_provider.hpp"

#include "core/base/secret.hpp"
#include "core/base/utf8_prefix.hpp"
#include "server/identity/oidc/form_encoding.hpp"
#include "server/identity/oidc/id_token.hpp"
#include "server/identity/oidc/json_web_key.hpp"

#include <algorithm>

namespace fathom::server {
namespace {

using std::chrono::steady_clock;

constexpr std::chrono::seconds kCallLimit{10};
constexpr std::chrono::minutes kFresh{10};
constexpr std::chrono::seconds kFailureStays{3};
constexpr std::chrono::minutes kKeysPause{1};
constexpr std::size_t kMaxWordBytes = 200;

Error wrong_answer(std::string_view what)
{
    return Error{Errc::kInvalid, std::string(what)};
}

std::string text_member(const Json& object, const char* name)
{
    const auto found = object.find(name);
    return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

/// An OAuth error answer's own word, for the log.
std::string word_of(const Json& answer)
{
    std::string word = text_member(answer, "error");
    const std::string description = text_member(answer, "error_description");
    if (!description.empty()) word += ": " + description;
    return std::string(utf8_prefix(word, kMaxWordBytes));
}

std::vector<std::string> texts_in(const Json& object, const char* name)
{
    std::vector<std::string> texts;
    const auto found = object.find(name);
    if (found == object.end() || !found->is_array()) return texts;
    for (const Json& text : *found)
        if (text.is_string()) texts.push_back(text);
    return texts;
}

bool has(const std::vector<std::string>& texts, std::string_view text)
{
    return std::ranges::find(texts, text) != texts.end();
}

} // namespace

IdentityProvider::IdentityProvider(OidcSettings settings, Fetch fetch, const Clock& clock)
    : settings_(std::move(settings)), fetch_(std::move(fetch)), clock_(&clock)
{
}

/// @error kForbidden  a 4xx with an OAuth error.
Result<Json> IdentityProvider::fetch_json(const FetchOrder& order, Deadline deadline, std::string_view what)
{
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - steady_clock::now());
    if (left.count() <= 0) return Error{Errc::kDeadline, "the provider is too slow"};
    const Result<net::ClientResponse> answer = fetch_(order, left);
    if (!answer) return answer.error();
    const std::string status = std::to_string(answer->status);
    if (answer->status >= 500) return Error{Errc::kUnavailable, std::string(what) + " answered " + status};
    Result<Json> json = parse_json(answer->body, {.max_bytes = 1UL << 20U, .max_depth = 32});
    const bool is_object = json && json->is_object();
    if (answer->status >= 400)
        return Error{Errc::kForbidden,
                     std::string(what) + " answered " + status + (is_object ? ", " + word_of(*json) : std::string())};
    if (answer->status != 200) return wrong_answer(std::string(what) + " answered " + status);
    if (!is_object) return wrong_answer(std::string(what) + " answered no JSON object");
    return std::move(*json);
}

Result<IdentityProvider::Published> IdentityProvider::discover(Deadline deadline)
{
    std::string base = settings_.issuer;
    if (base.ends_with('/')) base.pop_back();
    const FetchOrder order{
        .method = net::Method::kGet, .url = base + "/.well-known/openid-configuration", .headers = {}, .body = {}};
    const Result<Json> document = fetch_json(order, deadline, "the provider's description (" + order.url + ")");
    if (!document) {
        if (document.error().code == Errc::kForbidden) return wrong_answer(document.error().detail);
        return document.error();
    }
    if (const std::string issuer = text_member(*document, "issuer"); issuer != settings_.issuer)
        return wrong_answer("the provider calls itself " + std::string(utf8_prefix(issuer, kMaxWordBytes)) + ", not " +
                            settings_.issuer + " (oidc_issuer)");
    Published published{.authorization_endpoint = text_member(*document, "authorization_endpoint"),
                        .token_endpoint = text_member(*document, "token_endpoint"),
                        .userinfo_endpoint = text_member(*document, "userinfo_endpoint"),
                        .jwks_uri = text_member(*document, "jwks_uri"),
                        .client_authentications = texts_in(*document, "token_endpoint_auth_methods_supported"),
                        .names_itself =
                            document->value("authorization_response_iss_parameter_supported", Json()) == true};
    for (const std::string* const url : {&published.authorization_endpoint, &published.token_endpoint,
                                         &published.jwks_uri, &published.userinfo_endpoint}) {
        const bool may_lack = url == &published.userinfo_endpoint && url->empty();
        if (!may_lack && !parse_https_url(*url))
            return wrong_answer("the provider's description lacks an https address of an endpoint");
    }
    return published;
}

Result<IdentityProvider::Published> IdentityProvider::published(Deadline deadline)
{
    const std::scoped_lock lock(mutex_);
    const Timestamp now = clock_->now();
    if (published_ && now < published_until_) return *published_;
    if (failure_ && now < failure_until_) return *failure_;
    Result<Published> found = discover(deadline);
    if (!found) {
        failure_ = found.error();
        failure_until_ = clock_->now() + kFailureStays;
        return found;
    }
    failure_.reset();
    published_ = *found;
    published_until_ = clock_->now() + kFresh;
    return found;
}

Result<Json> IdentityProvider::keys(const Published& published, Deadline deadline, bool must_be_new)
{
    const std::scoped_lock lock(mutex_);
    const Timestamp now = clock_->now();
    const bool may_ask = must_be_new ? now >= keys_again_ : now >= keys_until_;
    if (keys_ && !may_ask) return *keys_;
    const FetchOrder order{.method = net::Method::kGet, .url = published.jwks_uri, .headers = {}, .body = {}};
    Result<Json> found = fetch_json(order, deadline, "the provider's key set");
    if (!found) return found;
    keys_ = *found;
    keys_until_ = clock_->now() + kFresh;
    keys_again_ = clock_->now() + kKeysPause;
    return found;
}

Result<std::string> IdentityProvider::authorization_url(const Authorization& authorization)
{
    const Result<Published> found = published(steady_clock::now() + kCallLimit);
    if (!found) return found.error();
    const std::string& endpoint = found->authorization_endpoint;
    const std::string challenge = code_challenge(authorization.code_verifier);
    return endpoint + (endpoint.find('?') == std::string::npos ? "?" : "&") +
           form_encode({{"response_type", "code"},
                        {"client_id", settings_.client_id},
                        {"redirect_uri", settings_.redirect_uri()},
                        {"scope", settings_.scopes},
                        {"state", authorization.state},
                        {"nonce", authorization.nonce},
                        {"code_challenge", challenge},
                        {"code_challenge_method", "S256"}});
}

Result<FetchOrder> IdentityProvider::token_order(const Published& published, const Redemption& redemption) const
{
    FetchOrder order{.method = net::Method::kPost,
                     .url = published.token_endpoint,
                     .headers = {{"Content-Type", "application/x-www-form-urlencoded"}, {"Accept", "application/json"}},
                     .body = form_encode({{"grant_type", "authorization_code"},
                                          {"code", redemption.code},
                                          {"redirect_uri", settings_.redirect_uri()},
                                          {"code_verifier", redemption.code_verifier}})};
    const std::vector<std::string>& known = published.client_authentications;
    if (settings_.client_secret.empty()) {
        order.body += "&" + form_encode({{"client_id", settings_.client_id}});
    } else if (known.empty() || has(known, "client_secret_basic")) { // what holds where nothing is said
        const std::string pair = percent_encode(settings_.client_id) + ":" + percent_encode(settings_.client_secret);
        order.headers["Authorization"] = "Basic " + base64_encode(pair);
    } else if (has(known, "client_secret_post")) {
        order.body +=
            "&" + form_encode({{"client_id", settings_.client_id}, {"client_secret", settings_.client_secret}});
    } else {
        return wrong_answer("the provider takes neither client_secret_basic nor client_secret_post");
    }
    return order;
}

Result<IdentityProvider::Tokens> IdentityProvider::exchange(const Published& published, const Redemption& redemption,
                                                            Deadline deadline)
{
    const Result<FetchOrder> order = token_order(published, redemption);
    if (!order) return order.error();
    const Result<Json> answer = fetch_json(*order, deadline, "the provider's token endpoint");
    if (!answer) return answer.error();
    Tokens tokens{.id_token = text_member(*answer, "id_token"), .access_token = text_member(*answer, "access_token")};
    if (tokens.id_token.empty()) return wrong_answer("the provider gave no ID token; oidc_scopes must hold openid");
    return tokens;
}

Result<Json> IdentityProvider::believe(const Published& published, const Tokens& tokens, const std::string& nonce,
                                       Deadline deadline)
{
    Result<SignedToken> token = parse_signed_token(tokens.id_token);
    if (!token) return token.error();
    Result<Json> known = keys(published, deadline, /*must_be_new=*/false);
    if (!known) return known.error();
    Result<void> is_signed = verify_signature(*token, *known);
    if (!is_signed && is_signed.error().code == Errc::kNotFound) { // the provider may have a new key since
        known = keys(published, deadline, /*must_be_new=*/true);
        if (!known) return known.error();
        is_signed = verify_signature(*token, *known);
    }
    if (!is_signed) return wrong_answer(is_signed.error().detail);
    const ExpectedToken expected{settings_.issuer, settings_.client_id, nonce, clock_->now()};
    if (const Result<void> good = check_claims(token->claims, expected); !good) return good.error();
    return std::move(token->claims);
}

/// Claims that the ID token has count before those of the user info.
Result<void> IdentityProvider::add_userinfo(const Published& published, const Tokens& tokens, Json& claims,
                                            Deadline deadline)
{
    const bool has_all =
        find_claim(claims, settings_.name_claim) != nullptr && find_claim(claims, settings_.groups_claim) != nullptr;
    if (has_all || published.userinfo_endpoint.empty() || tokens.access_token.empty()) return {};
    const FetchOrder order{
        .method = net::Method::kGet,
        .url = published.userinfo_endpoint,
        .headers = {{"Authorization", "Bearer " + tokens.access_token}, {"Accept", "application/json"}},
        .body = {}};
    const Result<Json> more = fetch_json(order, deadline, "the provider's userinfo endpoint");
    if (!more) return more.error();
    if (text_member(*more, "sub") != text_member(claims, "sub"))
        return wrong_answer("the provider's user info is somebody else's");
    for (const auto& [name, value] : more->items())
        if (!claims.contains(name)) claims[name] = value;
    return {};
}

Result<Person> IdentityProvider::redeem(const Redemption& redemption)
{
    const Deadline deadline = steady_clock::now() + kCallLimit;
    const Result<Published> found = published(deadline);
    if (!found) return found.error();
    const bool must_name = found->names_itself || !redemption.issuer.empty();
    if (must_name && redemption.issuer != settings_.issuer)
        return wrong_answer("the browser brought an answer of another provider (iss)");
    const Result<Tokens> tokens = exchange(*found, redemption, deadline);
    if (!tokens) return tokens.error();
    Result<Json> claims = believe(*found, *tokens, redemption.nonce, deadline);
    if (!claims) return claims.error();
    if (const Result<void> added = add_userinfo(*found, *tokens, *claims, deadline); !added) return added.error();
    return person_of(*claims, settings_.name_claim, settings_.groups_claim);
}

} // namespace fathom::server
