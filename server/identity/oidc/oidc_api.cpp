#include "server/identity/oidc/oidc_api.hpp"

#include "server/identity/oidc/oidc_page.hpp"
#include "server/identity/session_api.hpp"

#include <algorithm>

namespace fathom::server {
namespace {

using Answer = asio::awaitable<net::Response>;

/// Binds a sign-in to the browser that began it, so that nobody can have another's browser end theirs. The session's
/// own cookie cannot: it does not come along when another site sends the browser here.
constexpr std::string_view kOidcCookie = "__Host-fathom-oidc";
constexpr std::size_t kMaxCodeBytes = 8192;
constexpr std::size_t kMaxReturnBytes = 1000;

std::string oidc_cookie(std::string_view secret, std::chrono::seconds valid)
{
    return std::string(kOidcCookie) + "=" + std::string(secret) +
           "; Path=/; Secure; HttpOnly; SameSite=Lax; Max-Age=" + std::to_string(valid.count());
}

/// The secret of the cookie; empty when it is none of ours.
std::string browser_secret(const net::Request& request)
{
    const std::string_view secret = cookie_value(request.header("Cookie"), kOidcCookie);
    return is_plain_secret(secret) ? std::string(secret) : std::string();
}

/// A path of the console and nothing else: never another site.
std::string return_path(const net::Request& request)
{
    const std::string path = query_text(request.query, "return_to");
    const auto is_odd = [](char c) { return c <= ' ' || c > '~' || c == '\\'; };
    const bool is_page = path.starts_with('/') && !path.starts_with("//") && !path.starts_with("/api/") &&
                         path.size() <= kMaxReturnBytes && std::none_of(path.begin(), path.end(), is_odd);
    return is_page ? path : "/";
}

OidcPageContext context_of(const OidcService& service, const net::Request& request)
{
    return {.settings = &service.settings(),
            .is_chinese = request.header("Accept-Language").starts_with("zh"),
            .request_id = request.request_id};
}

/// What is set up, from memory.
Answer tell_provider(OidcService* service, net::Request)
{
    Json name;
    if (service != nullptr) name = service->settings().provider_name;
    net::Response response = json_response(200, {{"name", std::move(name)}});
    response.headers["Cache-Control"] = "no-store";
    co_return response;
}

net::Response not_set_up(const net::Request& request)
{
    return net::problem(Error{Errc::kNotFound, "no OpenID Connect provider is set up (oidc_issuer)"},
                        request.request_id);
}

Answer begin_sign_in(OidcService* service, net::Request request)
{
    if (service == nullptr) co_return not_set_up(request);
    SessionService::SignIn sign_in{request.remote_address, request.request_id};
    const auto begun = co_await service->begin(std::move(sign_in), browser_secret(request), return_path(request));
    if (const auto* const refusal = std::get_if<OidcRefusal>(&begun))
        co_return refusal_page(context_of(*service, request), *refusal);
    const auto& to = std::get<OidcService::Begun>(begun);
    net::Response response;
    response.status = 302;
    response.headers["Location"] = to.url;
    response.headers["Set-Cookie"] = oidc_cookie(to.browser_secret, kOidcSignInValidity);
    response.headers["Cache-Control"] = "no-store";
    response.headers["Referrer-Policy"] = "no-referrer";
    co_return response;
}

Answer finish_sign_in(OidcService* service, net::Request request)
{
    if (service == nullptr) co_return not_set_up(request);
    SessionService::SignIn sign_in{request.remote_address, request.request_id};
    OidcService::Callback callback{.state = query_text(request.query, "state"),
                                   .code = query_text(request.query, "code").substr(0, kMaxCodeBytes),
                                   .error = query_text(request.query, "error"),
                                   .issuer = query_text(request.query, "iss")};
    const auto finished = co_await service->finish(std::move(sign_in), browser_secret(request), std::move(callback));
    const OidcPageContext context = context_of(*service, request);
    if (const auto* const refusal = std::get_if<OidcRefusal>(&finished)) co_return refusal_page(context, *refusal);
    const auto& done = std::get<OidcService::Finished>(finished);
    net::Response response = forward_page(context, done.return_to);
    response.headers["Set-Cookie"] = session_cookie(done.opened.secret, kSessionValidity);
    co_return response;
}

} // namespace

void add_oidc_routes(ApiRouter& api, net::Router& router, OidcService* service)
{
    using net::Method;
    const auto bind = [service](auto handler) -> net::Handler {
        return [handler, service](net::Request request) { return handler(service, std::move(request)); };
    };
    api.add_open(Method::kGet, "/session/oidc", bind(tell_provider), /*most_body_bytes=*/0);
    api.add_open(Method::kGet, "/session/oidc/start", bind(begin_sign_in), /*most_body_bytes=*/0);
    router.add(Method::kGet, "/api/v1/session/oidc/callback", bind(finish_sign_in), {.most_bytes = 0});
}

} // namespace fathom::server
