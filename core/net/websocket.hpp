#pragma once

#include "core/base/result.hpp"

#include <boost/asio/awaitable.hpp>

#include <memory>
#include <string>

namespace fathom::net {

namespace asio = boost::asio;

/// What a close frame's code tells the peer (RFC 6455, 7.4.1).
enum class CloseKind {
    kNormal,  ///< 1000
    kRefused, ///< 1008: the peer is not accepted, and trying again at once is of no use
};

/// One WebSocket connection, server or client side, text frames only. Pings keep it alive; a peer
/// that is silent for the idle limit (default 30 s) is dropped. Answers to pings are seen by read()
/// only: keep one pending, also on a connection that mostly sends.
/// Runs on: the connection's strand, except send() and close(), which are thread-safe.
class WebSocket {
  public:
    virtual ~WebSocket() = default;

    /// The next text message. One reader at a time.
    /// @error kUnavailable  closed or lost.  @error kTooLarge  over the message limit (then closed).
    /// @error kForbidden    closed by the peer, which refuses us.
    virtual asio::awaitable<Result<std::string>> read() = 0;

    /// Queues one message for the writer. Order is kept.
    /// @error kTooMany  the queue (default 64 MiB) is full: the peer is too slow and gets closed.
    /// @error kUnavailable  closed.
    virtual Result<void> send(std::string text) = 0;

    /// Closes with a reason (at most 120 bytes); later reads and sends fail. Idempotent.
    virtual void close(std::string reason, CloseKind kind) = 0;
    void close(std::string reason) { close(std::move(reason), CloseKind::kNormal); }

    virtual bool is_open() const = 0;
};

} // namespace fathom::net
