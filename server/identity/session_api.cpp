#include "server/identity/session_api.hpp"

#include "server/identity/account_api.hpp"

namespace fathom::server {
namespace {

using Answer = asio::awaitable<net::Response>;

constexpr std::size_t kBodyBytes = 4096; ///< of who has not signed in yet

SessionService::SignIn sign_in_of(const net::Request& request)
{
    return {request.remote_address, request.request_id};
}

/// Of a session, or of the token that asks, which needs no X-CSRF-Token.
Json to_json(const SessionService::View& view, const ApiCredential& credential)
{
    Json permissions = Json::array();
    for (const Permission permission : permissions_of(view.principal.role))
        permissions.push_back(to_string(permission));
    Json projects = Json::object();
    for (const auto& [project, role] : view.principal.projects)
        projects[project] = to_string(role);
    Json json = {{"name", view.account.value_or(view.principal.name)},
                 {"token_id", view.principal.token_id.value},
                 {"role", to_string(view.principal.role)},
                 {"permissions", std::move(permissions)},
                 {"projects", std::move(projects)},
                 {"account", nullptr},
                 {"has_password", view.has_password},
                 {"csrf_token", nullptr},
                 {"expires_at", nullptr}};
    if (view.account) json["account"] = *view.account;
    if (view.expires_at) json["expires_at"] = format_rfc3339(*view.expires_at);
    if (credential.kind == ApiCredential::Kind::kSession) json["csrf_token"] = csrf_token(credential.secret);
    return json;
}

net::Response private_response(int status, const Json& body)
{
    net::Response response = json_response(status, body);
    response.headers["Cache-Control"] = "no-store";
    return response;
}

struct SignInBody {
    std::optional<std::string> token;
    std::optional<std::string> name;
    std::optional<std::string> password;
};

Result<SignInBody> parse_sign_in(const net::Request& request)
{
    const Result<Json> json = parse_json(request.body);
    if (!json) return json.error();
    std::vector<FieldError> errors;
    ObjectReader reader(*json, "", errors);
    SignInBody body;
    body.token = reader.optional_string("token", {.min_length = 1, .max_length = 200});
    body.name = reader.optional_string("name", {.min_length = 1, .max_length = 64});
    body.password = reader.optional_string("password", {.min_length = 1, .max_length = kMaxPasswordBytes});
    const bool by_password = body.name && body.password;
    if (errors.empty() && (body.token.has_value() == by_password || (body.token && (body.name || body.password))))
        reader.fail("token", "must be given, or else name and password");
    reader.finish(UnknownFields::kReject);
    return value_or_errors(std::move(body), std::move(errors), "the sign-in");
}

Answer sign_in(SessionService* service, net::Request request)
{
    if (is_cross_site(request)) {
        const Error error{Errc::kForbidden, "another site's page sent this"};
        co_return net::problem(error, request.request_id);
    }
    Result<SignInBody> body = parse_sign_in(request);
    if (!body) co_return net::problem(body.error(), request.request_id);
    Result<SessionService::Opened> opened = Error{Errc::kInternal, "neither a token nor a name"};
    if (body->token)
        opened = co_await service->sign_in_by_token(sign_in_of(request), std::move(*body->token));
    else
        opened = co_await service->sign_in_by_password(sign_in_of(request), std::move(*body->name),
                                                       std::move(*body->password));
    if (!opened) {
        net::Response refusal = net::problem(opened.error(), request.request_id);
        if (opened.error().code == Errc::kTooMany) refusal.headers["Retry-After"] = "60";
        co_return refusal;
    }
    const ApiCredential credential{ApiCredential::Kind::kSession, opened->secret};
    net::Response response = private_response(200, to_json(opened->view, credential));
    response.headers["Set-Cookie"] = session_cookie(opened->secret, kSessionValidity);
    co_return response;
}

Answer show_session(SessionService* service, Call call)
{
    const ApiCredential credential = credential_of(call.request);
    const Result<SessionService::View> view = co_await service->view(credential, call.principal);
    if (!view) co_return net::problem(view.error(), call.request.request_id);
    co_return private_response(200, to_json(*view, credential));
}

Answer sign_out(SessionService* service, Call call)
{
    const Result<void> done = co_await service->sign_out(caller_of(call), credential_of(call.request));
    if (!done) co_return net::problem(done.error(), call.request.request_id);
    net::Response response;
    response.status = 204;
    response.headers["Set-Cookie"] = session_cookie("", std::chrono::seconds(0));
    response.headers["Cache-Control"] = "no-store";
    co_return response;
}

Answer change_password(SessionService* service, Call call)
{
    const Result<Json> json = call.json();
    if (!json) co_return net::problem(json.error(), call.request.request_id);
    std::vector<FieldError> errors;
    ObjectReader reader(*json, "", errors);
    std::string old_password =
        reader.required_string("old_password", {.min_length = 1, .max_length = kMaxPasswordBytes});
    std::string new_password =
        reader.required_string("new_password", {.min_length = kMinPasswordBytes, .max_length = kMaxPasswordBytes});
    reader.finish(UnknownFields::kReject);
    const Result<bool> read = value_or_errors(true, std::move(errors), "the change");
    if (!read) co_return net::problem(read.error(), call.request.request_id);
    const Result<void> done =
        co_await service->change_password(caller_of(call), sign_in_of(call.request), credential_of(call.request),
                                          std::move(old_password), std::move(new_password));
    if (!done) co_return net::problem(done.error(), call.request.request_id);
    net::Response response;
    response.status = 204;
    co_return response;
}

} // namespace

std::string session_cookie(std::string_view secret, std::chrono::seconds valid)
{
    return std::string(kSessionCookie) + "=" + std::string(secret) +
           "; Path=/; Secure; HttpOnly; SameSite=Strict; Max-Age=" + std::to_string(valid.count());
}

void add_session_routes(ApiRouter& router, SessionService& service)
{
    using net::Method;
    SessionService* const target = &service;
    // What everybody has who has any role: whoever is signed in may ask who they are.
    constexpr Permission kAnybody = Permission::kReadJobs;
    router.add_open(
        Method::kPost, "/session", [target](net::Request request) { return sign_in(target, std::move(request)); },
        kBodyBytes);
    router.add(Method::kGet, "/session", kAnybody,
               [target](Call call) { return show_session(target, std::move(call)); });
    router.add(Method::kDelete, "/session", kAnybody,
               [target](Call call) { return sign_out(target, std::move(call)); });
    router.add(Method::kPost, "/session/password", kAnybody,
               [target](Call call) { return change_password(target, std::move(call)); });
}

} // namespace fathom::server
