#pragma once

#include "core/net/http.hpp"
#include "core/net/websocket.hpp"

#include <memory>
#include <variant>

namespace fathom::net {

/// Takes over an upgraded connection; the connection closes when it returns.
using WebSocketHandler = std::function<asio::awaitable<void>(std::shared_ptr<WebSocket>, Request)>;

/// Looks at a request whose body has not come yet: the answer that refuses it, or nothing to go on. It is asked only
/// when there is a body to wait for, so the handler must check by itself. Called on the connection's strand; the
/// request outlives the call.
using Guard = std::function<asio::awaitable<std::optional<Response>>(const Request&)>;

/// What a route asks of its requests' bodies.
struct BodyRule {
    std::size_t most_bytes = 64UL << 10U; ///< more are answered with 413; the server's own limit counts as well
    Guard guard = nullptr;                ///< null: the body of anybody is read
};

/// Finds the handler of a method and path.
///
/// Patterns are `/api/v1/jobs/{id}/events`; a segment may end in a literal verb, `/jobs/{id}:cancel`
/// (also matched when the colon arrives as %3A). A last segment `{name*}` takes the rest of the path.
/// Literal segments win over parameters. Fill it before the server starts; reading it is thread-safe.
class Router {
  public:
    Router();
    ~Router();
    Router(Router&&) noexcept;
    Router& operator=(Router&&) noexcept;

    void add(Method method, std::string pattern, Handler handler, BodyRule body = {});
    void add_websocket(std::string pattern, WebSocketHandler handler);
    /// Answers a GET of a path at which nothing else is: the pages of a console. Once.
    void set_page_fallback(Handler handler);

    struct NotFound {};
    struct WrongMethod {
        std::string allowed; ///< for the Allow header; empty when only a WebSocket lives there
    };
    struct Http {
        const Handler* handler;
        const BodyRule* body;
        std::string pattern; ///< for metrics and logs: few values, unlike the path
        std::map<std::string, std::string> path_params;
    };
    struct Upgrade {
        const WebSocketHandler* handler;
        std::map<std::string, std::string> path_params;
        std::string pattern;
    };
    using Match = std::variant<NotFound, WrongMethod, Http, Upgrade>;

    /// `path` still percent-encoded. HEAD is answered by the GET handler.
    Match match(Method method, std::string_view path, bool is_upgrade) const;

  private:
    struct State;
    std::unique_ptr<State> state_;
};

} // namespace fathom::net
