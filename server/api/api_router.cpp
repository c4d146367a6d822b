#include "server/api/api_router.hpp"

#include "core/base/log_limit.hpp"
#include "server/api/query_contract.hpp"
#include "server/api/watched_stream.hpp"
#include "server/identity/identity_service.hpp"

#include <cmath>
#include <stdexcept>

namespace fathom::server {
namespace {

constexpr const char* kPrefix = "/api/v1";
constexpr std::size_t kMaxStreams = 8; ///< of one token at once

/// What a guarded route needs; shared by its requests.
struct Route {
    IdentityService* identity{};
    Permission permission;
    std::string project_parameter; ///< of the path or query, where leads of that project may as well; empty: nowhere
    QueryRules query;
    ApiHandler handler;
    WaitsInLine waits; ///< null: all
    std::chrono::milliseconds stream_check{};
    std::shared_ptr<TokenPlaces> streams;
    TokenLimits limits;
};

/// The same of a route that is open to all.
struct OpenRoute {
    QueryRules query;
    net::Handler handler;
};

net::Response refuse(const Error& error, const net::Request& request)
{
    net::Response response = net::problem(error, request.request_id);
    if (error.code == Errc::kUnauthenticated) {
        // RFC 6750: no error code when there was no credential at all.
        const bool sent = !request.header("Authorization").empty();
        response.headers["WWW-Authenticate"] =
            sent ? R"(Bearer realm="fathom", error="invalid_token")" : R"(Bearer realm="fathom")";
    }
    if (error.code == Errc::kTooMany) response.headers["Retry-After"] = "60";
    return response;
}

/// To a token that is to wait so long before it asks again.
net::Response refuse_for_now(const Route& route, const TokenId& token, std::chrono::seconds wait,
                             const net::Request& request)
{
    const std::string seconds = std::to_string(wait.count());
    log_limited("token_slowed_down", {{"token_id", token.value}, {"request_id", request.request_id}});
    const Error error{Errc::kTooMany, "this token sends more than " +
                                          std::to_string(std::llround(route.limits.rate->per_second())) +
                                          " requests a second: it may again in " + seconds +
                                          (wait.count() == 1 ? " second" : " seconds")};
    net::Response response = net::problem(error, request.request_id);
    response.headers["Retry-After"] = seconds;
    return response;
}

/// To a token that has as many of these requests in work as it may.
net::Response refuse_place(bool is_read, std::size_t most, const TokenId& token, const net::Request& request)
{
    log_limited(
        "token_asks_too_much_at_once",
        {{"token_id", token.value}, {"requests", is_read ? "reads" : "changes"}, {"request_id", request.request_id}});
    const std::string what = is_read ? " reads in work already: ask again when one of them has been answered"
                                     : " changes in work already: ask again when one of them has been answered";
    const Error error{Errc::kTooMany, "this token has " + std::to_string(most) + what};
    net::Response response = net::problem(error, request.request_id);
    response.headers["Retry-After"] = "1";
    return response;
}

/// A request's place among those of its token, until it is answered; or why there is none.
struct WorkPlace {
    std::shared_ptr<const void> place{}; ///< null: none is needed
    std::optional<net::Response> refusal{};
};

WorkPlace take_work_place(const Route& route, const TokenId& token, const net::Request& request)
{
    if (route.limits.rate != nullptr) {
        const std::chrono::seconds wait = route.limits.rate->try_take(token.value, std::chrono::steady_clock::now());
        if (wait.count() > 0) return {.refusal = refuse_for_now(route, token, wait, request)};
    }
    const bool is_read = request.method == net::Method::kGet;
    TokenPlaces* const places = (is_read ? route.limits.reads : route.limits.changes).get();
    if (places == nullptr) return {};
    WorkPlace work{.place = places->take(token.value)};
    if (!work.place) work.refusal = refuse_place(is_read, places->most(), token, request);
    return work;
}

bool waits_in_line(const Route& route, const net::Request& request)
{
    return route.limits.line != nullptr && (!route.waits || route.waits(request));
}

using Allows = std::function<bool(const Principal&)>;

/// Who sends the request, when they may.
asio::awaitable<Result<Principal>> admit(std::shared_ptr<const Route> route, ApiCredential credential,
                                         std::string remote_address, Allows allows)
{
    Result<Principal> who = co_await route->identity->authenticate(std::move(credential), std::move(remote_address));
    if (who && !allows(*who))
        co_return Error{Errc::kForbidden,
                        "the role " + std::string(to_string(who->role)) + " does not allow this" +
                            (route->project_parameter.empty() ? "" : ", but to leads of the project")};
    co_return who;
}

/// The project that the request is about, where its leads may use the route; else empty.
std::string led_project(const Route& route, const net::Request& request)
{
    const std::string& name = route.project_parameter;
    if (name.empty()) return {};
    const auto in_path = request.path_params.find(name);
    return in_path != request.path_params.end() ? in_path->second : query_text(request.query, name);
}

Allows allows_of(const Route& route, std::string project)
{
    return [permission = route.permission, project = std::move(project)](const Principal& who) {
        return has_permission(who.role, permission) || (!project.empty() && is_lead_of(who, project));
    };
}

/// Refuses before the body is waited for, when the path is not taken apart yet: leads of other projects are refused
/// after it. The request outlives the call.
asio::awaitable<std::optional<net::Response>> guard_body(std::shared_ptr<const Route> route,
                                                         const net::Request* request)
{
    ApiCredential credential = credential_of(*request);
    if (const std::optional<Error> forgery = find_forgery(*request, credential)) co_return refuse(*forgery, *request);
    const Allows allows = [&route](const Principal& caller) {
        return has_permission(caller.role, route->permission) ||
               (!route->project_parameter.empty() && leads_some_project(caller));
    };
    const Result<Principal> who = co_await admit(route, std::move(credential), request->remote_address, allows);
    if (!who) co_return refuse(who.error(), *request);
    if (route->limits.rate == nullptr) co_return std::nullopt;
    // It is counted when it is served, as one without a body is.
    const std::chrono::seconds wait =
        route->limits.rate->wait_of(who->token_id.value, std::chrono::steady_clock::now());
    if (wait.count() > 0) co_return refuse_for_now(*route, who->token_id, wait, *request);
    co_return std::nullopt;
}

asio::awaitable<net::Response> serve(std::shared_ptr<const Route> route, net::Request request)
{
    const ApiCredential credential = credential_of(request);
    if (const std::optional<Error> forgery = find_forgery(request, credential)) co_return refuse(*forgery, request);
    const Allows allows = allows_of(*route, led_project(*route, request));
    Result<Principal> who = co_await admit(route, credential, request.remote_address, allows);
    if (!who) co_return refuse(who.error(), request);
    const std::string token_id = who->token_id.value;
    const std::string request_id = request.request_id;
    WorkPlace work = take_work_place(*route, who->token_id, request);
    if (work.refusal) co_return std::move(*work.refusal);
    if (const Result<void> query = route->query.check(request.query); !query)
        co_return net::problem(query.error(), request_id);
    std::shared_ptr<const void> turn; // until the answer, or its stream, begins
    if (waits_in_line(*route, request)) turn = co_await route->limits.line->take(token_id);
    const Principal caller = *who;
    Call call{std::move(request), std::move(*who), {route->limits.line, token_id}};
    net::Response response = co_await route->handler(std::move(call));
    response.reader = token_id;
    if (response.stream) {
        std::shared_ptr<const void> place = route->streams->take(token_id);
        if (!place) {
            const Error error{Errc::kTooMany, "this token has " + std::to_string(kMaxStreams) +
                                                  " streams open, of events or logs: close one of them first"};
            co_return net::problem(error, request_id);
        }
        // What it may see was settled when the stream began.
        StillAllowed allowed = [route, credential, allows, caller, place = std::move(place)] {
            return route->identity->still_allows(credential, [allows, caller](const Principal& now) {
                return allows(now) && now.projects == caller.projects;
            });
        };
        response.stream = watch_stream(std::move(response.stream), std::move(allowed), route->stream_check);
    }
    co_return response;
}

/// The same for a call from inside.
asio::awaitable<net::Response> serve_inside(std::shared_ptr<const Route> route, Call call)
{
    const std::string request_id = call.request.request_id;
    if (!has_permission(call.principal.role, route->permission)) {
        const Error error{Errc::kForbidden,
                          "the role " + std::string(to_string(call.principal.role)) + " does not allow this"};
        co_return net::problem(error, request_id);
    }
    if (const Result<void> query = route->query.check(call.request.query); !query)
        co_return net::problem(query.error(), request_id);
    co_return co_await route->handler(std::move(call));
}

std::string inside_key(net::Method method, const std::string& path)
{
    return std::string(net::to_string(method)) + " " + path;
}

/// A route that the contract does not have takes no parameters.
QueryRules query_rules(net::Method method, const std::string& path)
{
    const Result<QueryContract>& contract = query_contract();
    if (!contract) throw std::runtime_error("the OpenAPI document of this build: " + describe(contract.error()));
    const QueryRules* const rules = contract->find(method, path);
    return rules == nullptr ? QueryRules({}) : *rules;
}

asio::awaitable<net::Response> serve_open(std::shared_ptr<const OpenRoute> route, net::Request request)
{
    if (const Result<void> query = route->query.check(request.query); !query)
        co_return net::problem(query.error(), request.request_id);
    co_return co_await route->handler(std::move(request));
}

} // namespace

Result<Json> Call::json() const
{
    Result<Json> body = parse_json(request.body);
    // PostgreSQL's text has no NUL, and libpqxx would cut the string there. The escape is the only way in.
    if (body && request.body.find("\\u0000") != std::string::npos) {
        if (const std::optional<std::string> path = find_nul(*body))
            return Error{
                Errc::kInvalid, "the body has 1 error", {{*path, "must not contain the character NUL (\\u0000)"}}};
    }
    return body;
}

ApiRouter::ApiRouter(net::Router& router, IdentityService& identity, std::chrono::milliseconds stream_check,
                     TokenLimits limits)
    : router_(&router), identity_(&identity), stream_check_(stream_check),
      streams_(std::make_shared<TokenPlaces>(kMaxStreams)), limits_(std::move(limits))
{
}

void ApiRouter::add(net::Method method, const std::string& pattern, Permission permission, ApiHandler handler,
                    std::size_t most_body_bytes)
{
    add_route(method, kPrefix + pattern, permission, "", {std::move(handler), nullptr}, most_body_bytes);
}

void ApiRouter::add_unlined(net::Method method, const std::string& pattern, Permission permission, ApiHandler handler,
                            std::size_t most_body_bytes, WaitsInLine waits)
{
    add_route(method, kPrefix + pattern, permission, "", {std::move(handler), std::move(waits)}, most_body_bytes);
}

void ApiRouter::add_for_leads(net::Method method, const std::string& pattern, Permission permission,
                              std::string project_parameter, ApiHandler handler, std::size_t most_body_bytes)
{
    add_route(method, kPrefix + pattern, permission, std::move(project_parameter), {std::move(handler), nullptr},
              most_body_bytes);
}

void ApiRouter::add_at_root(net::Method method, const std::string& path, Permission permission, ApiHandler handler,
                            std::size_t most_body_bytes)
{
    add_route(method, path, permission, "", {std::move(handler), nullptr}, most_body_bytes);
}

void ApiRouter::add_route(net::Method method, const std::string& path, Permission permission,
                          std::string project_parameter, Served served, std::size_t most_body_bytes)
{
    auto route = std::make_shared<const Route>(Route{.identity = identity_,
                                                     .permission = permission,
                                                     .project_parameter = std::move(project_parameter),
                                                     .query = query_rules(method, path),
                                                     .handler = std::move(served.handler),
                                                     .waits = std::move(served.waits),
                                                     .stream_check = stream_check_,
                                                     .streams = streams_,
                                                     .limits = limits_});
    inside_[inside_key(method, path)] = [route](Call call) { return serve_inside(route, std::move(call)); };
    net::BodyRule body;
    body.most_bytes = most_body_bytes;
    body.guard = [route](const net::Request& request) { return guard_body(route, &request); };
    router_->add(
        method, path, [route](net::Request request) { return serve(route, std::move(request)); }, std::move(body));
}

void ApiRouter::add_open(net::Method method, const std::string& pattern, net::Handler handler,
                         std::size_t most_body_bytes)
{
    net::BodyRule body;
    body.most_bytes = most_body_bytes;
    const std::string path = kPrefix + pattern;
    auto route = std::make_shared<const OpenRoute>(query_rules(method, path), std::move(handler));
    router_->add(
        method, path, [route](net::Request request) { return serve_open(route, std::move(request)); }, std::move(body));
}

asio::awaitable<net::Response> ApiRouter::ask(Call call) const
{
    const auto found = inside_.find(inside_key(call.request.method, call.request.path));
    if (found == inside_.end()) {
        const Error error{Errc::kNotFound, "there is nothing at this path"};
        co_return net::problem(error, call.request.request_id);
    }
    co_return co_await found->second(std::move(call));
}

net::Response json_response(int status, const Json& body)
{
    return net::json_response(status, body.dump());
}

} // namespace fathom::server
