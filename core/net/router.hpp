#pragma once

#include "core/net/http.hpp"
#include "core/net/websocket.hpp"

#include <memory>
#include <variant>

namespace fathom::net {

/// Takes over an upgraded connection; the connection closes when it returns.
using WebSocketHandler = std::function<asio::awaitable<void>(std::shared_ptr<WebSocket>, Request)>;

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

    void add(Method method, std::string pattern, Handler handler);
    void add_websocket(std::string pattern, WebSocketHandler handler);

    struct NotFound {};
    struct WrongMethod {
        std::string allowed; ///< for the Allow header; empty when only a WebSocket lives there
    };
    struct Http {
        const Handler* handler;
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
