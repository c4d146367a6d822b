#pragma once

#include "core/base/json_reader.hpp"
#include "core/net/http.hpp"
#include "core/net/router.hpp"
#include "server/api/query.hpp"
#include "server/api/token_limits.hpp"
#include "server/identity/principal.hpp"

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <string>

namespace fathom::server {

namespace asio = boost::asio;

/// One authenticated request.
struct Call {
    net::Request request;
    Principal principal;
    TokenTurns turns{}; ///< for its streamed answer

    /// The body as JSON. @error kInvalid, kTooLarge
    Result<Json> json() const;
};

using ApiHandler = std::function<asio::awaitable<net::Response>(Call)>;

/// Which requests of a route wait in their token's line (TokenLine).
using WaitsInLine = std::function<bool(const net::Request&)>;
/// Of a route that waits for something else most of the time.
inline bool never_in_line(const net::Request&)
{
    return false;
}

class IdentityService;

/// How large a body a route takes: what people write by hand, or lists, scripts and programs.
inline constexpr std::size_t kUsualBodyBytes = 64UL << 10U;
inline constexpr std::size_t kLargeBodyBytes = 4UL << 20U;

/// Adds REST routes behind the one place that authenticates (Authorization: Bearer, or the cookie of a browser that is
/// signed in, which must show X-CSRF-Token with each change) and checks roles: no or bad token 401 with
/// WWW-Authenticate, missing permission or X-CSRF-Token 403; all before a body is waited for. Then it checks the query
/// by the contract (QueryContract): parameters that the contract does not give the route, or other values than it
/// allows them, are answered by 400. A streamed answer is cut off soon after the token that asked for it is revoked or
/// expires; a token has 8 of them at once (429). A token that sends more requests than its rate allows gets 429 and
/// Retry-After before a body is waited for and before the database is asked for anything; so does one with as many
/// reads (GET), or changes, in work as it may. Of these only as many work at once as may have connections to the
/// database; the others wait in their token's own line, so that a single token has neither all connections nor the
/// whole line before them. So do streamed answers, before each of their looks (Call::turns). Other tokens go on.
class ApiRouter {
  public:
    /// @param stream_check  between two looks at the token of a streamed answer.
    ApiRouter(net::Router& router, IdentityService& identity,
              std::chrono::milliseconds stream_check = std::chrono::seconds(10), TokenLimits limits = {});

    /// `pattern` without the prefix /api/v1.
    void add(net::Method method, const std::string& pattern, Permission permission, ApiHandler handler,
             std::size_t most_body_bytes = kUsualBodyBytes);
    /// The same for a route that uses no connection of its own for most of its time: it waits for what is computed, for
    /// a center, or for others with whom it is written.
    /// @param waits  its requests that use one all the same.
    void add_unlined(net::Method method, const std::string& pattern, Permission permission, ApiHandler handler,
                     std::size_t most_body_bytes = kUsualBodyBytes, WaitsInLine waits = never_in_line);
    /// As add(), also for who leads the project that the request is about: the one that `project_parameter` of its path
    /// or query names.
    void add_for_leads(net::Method method, const std::string& pattern, Permission permission,
                       std::string project_parameter, ApiHandler handler,
                       std::size_t most_body_bytes = kUsualBodyBytes);
    /// As add(), without the prefix.
    void add_at_root(net::Method method, const std::string& path, Permission permission, ApiHandler handler,
                     std::size_t most_body_bytes = kUsualBodyBytes);
    /// Without authentication: enrolment and the like.
    void add_open(net::Method method, const std::string& pattern, net::Handler handler,
                  std::size_t most_body_bytes = kUsualBodyBytes);

    /// Asks a route from inside, as who calls here: its permission and its query are checked as for a request from
    /// outside. The call's path is the route's whole pattern, so that routes with parameters in their paths cannot be
    /// asked. A token's limits do not count. Thread-safe once all routes are added.
    asio::awaitable<net::Response> ask(Call call) const;

  private:
    /// What answers, and which of its requests wait in line; null: all.
    struct Served {
        ApiHandler handler;
        WaitsInLine waits;
    };

    void add_route(net::Method method, const std::string& path, Permission permission, std::string project_parameter,
                   Served served, std::size_t most_body_bytes);

    net::Router* router_;
    IdentityService* identity_;
    std::chrono::milliseconds stream_check_;
    std::shared_ptr<TokenPlaces> streams_;
    TokenLimits limits_;
    std::map<std::string, ApiHandler, std::less<>> inside_; ///< by "GET /path": routes as ask() uses them
};

net::Response json_response(int status, const Json& body);

} // namespace fathom::server
