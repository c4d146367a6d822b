#pragma once

#include "core/net/client.hpp"
#include "core/net/websocket.hpp"

#include <memory>
#include <string>

namespace fathom::net {

/// Opens a client WebSocket. Await it on the io_context that shall run the connection. Letting the
/// last reference go closes it.
/// @error kUnavailable, kDeadline  as HttpClient::request.
/// @error kForbidden, kUnauthenticated, kNotFound  the server refused the upgrade (detail from its answer).
asio::awaitable<Result<std::shared_ptr<WebSocket>>> connect_websocket(Endpoint endpoint, TlsContext tls,
                                                                      std::string target, ClientOptions options);

} // namespace fathom::net
