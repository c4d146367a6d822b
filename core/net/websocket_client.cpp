#include "core/net/websocket_client.hpp"

#include "core/net/tls_connect.hpp"
#include "core/net/websocket_session.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/this_coro.hpp>

namespace fathom::net {
namespace {

using Outcome = Result<std::shared_ptr<WebSocket>>;

asio::awaitable<Outcome> open_on_strand(Endpoint endpoint, TlsContext tls, std::string target, ClientOptions options)
{
    Result<std::unique_ptr<TlsStream>> stream = co_await connect_tls(endpoint, std::move(tls), options);
    if (!stream) co_return stream.error();
    WebSocketOptions bounds;
    bounds.message_bytes = options.body_bytes;
    bounds.handshake_time = options.connect_time;
    bounds.idle_time = options.websocket_idle_time;
    const asio::any_io_executor executor = co_await asio::this_coro::executor;
    const auto session = std::make_shared<WebSocketSession>(std::move(**stream), executor, bounds);
    const Result<void> upgraded = co_await session->handshake(host_header(endpoint), std::move(target));
    if (!upgraded) co_return upgraded.error();
    // The writer keeps the session alive; letting the last reference go must still close it.
    WebSocket* const socket = session.get();
    auto close_it = [session](WebSocket*) { session->close("the client has let go"); };
    co_return std::shared_ptr<WebSocket>(socket, std::move(close_it));
}

} // namespace

asio::awaitable<Result<std::shared_ptr<WebSocket>>> connect_websocket(Endpoint endpoint, TlsContext tls,
                                                                      std::string target, ClientOptions options)
{
    // Its own strand: the caller's executor may be the bare io_context of several threads.
    const asio::any_io_executor home = co_await asio::this_coro::executor;
    const asio::any_io_executor strand = asio::make_strand(home);
    asio::awaitable<Outcome> work =
        open_on_strand(std::move(endpoint), std::move(tls), std::move(target), std::move(options));
    co_return co_await asio::co_spawn(strand, std::move(work), asio::use_awaitable);
}

} // namespace fathom::net
