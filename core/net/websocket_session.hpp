#pragma once

// Internal to core/net.

#include "core/net/http.hpp"
#include "core/net/stream.hpp"
#include "core/net/websocket.hpp"

#include <boost/asio/steady_timer.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/websocket/ssl.hpp>
#include <boost/beast/websocket/stream.hpp>

#include <atomic>
#include <list>

namespace fathom::net {

struct WebSocketOptions {
    std::size_t message_bytes = 8UL << 20U;
    std::size_t queue_bytes = 64UL << 20U;
    std::chrono::milliseconds idle_time{30000};
    std::chrono::milliseconds handshake_time{10000}; ///< also bounds the closing handshake
};

/// A WebSocket of either side over an open TLS stream.
///
/// One coroutine writes: it drains the queue, then says goodbye once close() was called. States:
/// handshake -> open (writer runs) -> closing (no new messages, queue drains) -> ended (writer done).
/// Runs on: `executor`, a strand; send(), close(), kill() and is_open() are thread-safe.
class WebSocketSession final : public WebSocket, public std::enable_shared_from_this<WebSocketSession> {
  public:
    WebSocketSession(TlsStream stream, asio::any_io_executor executor, WebSocketOptions options);

    /// Server side: answers the upgrade request. Call on the strand.
    asio::awaitable<Result<void>> accept(const Request& request);
    /// Client side: asks for the upgrade. Call on the strand.
    asio::awaitable<Result<void>> handshake(std::string host, std::string target);
    /// Closes and waits until the writer has ended, at most about the handshake time. Call on the strand.
    asio::awaitable<void> finish();
    /// Drops the connection at once.
    void kill();

    asio::awaitable<Result<std::string>> read() override;
    Result<void> send(std::string text) override;
    using WebSocket::close;
    void close(std::string reason, CloseKind kind) override;
    bool is_open() const override { return open_.load(std::memory_order_acquire); }

  private:
    asio::awaitable<Result<std::string>> read_on_strand();
    void close_with(boost::beast::websocket::close_code code, std::string reason);
    bool is_on_strand() const;
    void start_writer();
    asio::awaitable<void> write_until_closed();
    asio::awaitable<void> drain();
    void end_writer();
    void drop_connection();

    boost::beast::websocket::stream<TlsStream> stream_;
    const asio::any_io_executor executor_;
    const WebSocketOptions options_;
    boost::beast::flat_buffer inbox_;
    std::list<std::string> queue_; ///< strand only; a deque would have memory while it is empty, as it mostly is
    std::atomic<std::size_t> queued_bytes_{0};
    std::atomic<bool> open_{false}; ///< takes messages
    boost::beast::websocket::close_code close_code_ = boost::beast::websocket::close_code::normal;
    std::string close_reason_; ///< strand only, as the rest
    asio::steady_timer wake_;  ///< something for the writer
    asio::steady_timer writer_ended_;
    bool closing_ = false;
    bool writer_runs_ = false;
};

} // namespace fathom::net
