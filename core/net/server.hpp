#pragma once

#include "core/base/metrics.hpp"
#include "core/base/settings.hpp"
#include "core/net/address_networks.hpp"
#include "core/net/listening_socket.hpp"
#include "core/net/router.hpp"
#include "core/net/tls.hpp"

#include <chrono>
#include <cstdint>
#include <memory>

namespace boost::asio {
class io_context;
}

namespace fathom::net {

struct ServerLimits {
    std::size_t header_bytes = 16UL << 10U;
    std::size_t body_bytes = 4UL << 20U;     ///< of any route
    std::size_t bodies_bytes = 256UL << 20U; ///< of all requests together; beyond it 503
    /// Of all answers that are being sent to readers that are known (Response::reader), but for small ones. Of several
    /// to one reader a fifth of it at most, and less where there are other readers; beyond it 503.
    std::size_t answers_bytes = 384UL << 20U;
    /// Likewise to those of whom only the IPv4 address or IPv6 /64 network is known.
    std::size_t answers_to_strangers_bytes = 128UL << 20U;
    std::size_t websocket_message_bytes = 8UL << 20U;
    std::size_t connections = 10000; ///< further ones are closed at once
    /// Of one IPv4 address or IPv6 /64 network, but those with a client certificate.
    std::size_t connections_of_one_network = 1024;
    std::size_t connections_for_certificates = 0; ///< of all, those that strangers leave to peers with a certificate
    /// At the same time, so that each gets through when very many peers come at once; others wait in the backlog.
    /// 0: any.
    std::size_t handshakes = 0;
    std::chrono::seconds handshake_time{10};
    std::chrono::seconds request_time{30}; ///< for the header of a request, and again for its body
    std::chrono::seconds idle_time{60};    ///< keep-alive without a request
    std::chrono::seconds write_time{30};   ///< for each 256 KiB: a slow reader is dropped
    std::size_t websocket_queue_bytes = 64UL << 20U;
    std::chrono::milliseconds websocket_idle_time{30000};
    /// Whose connections begin with a header of the PROXY protocol, before TLS; the address in it is the client's then.
    AddressNetworks proxies;
};

/// HTTPS/1.1 and WebSocket server on one address. Every connection has its own strand.
///
/// A body is read once its route is found and the route's guard lets the request pass.
/// Oversized headers get 431, bodies 413 (503 while too many are read at once), malformed requests 400, unknown
/// paths 404, wrong methods 405 with Allow, handler exceptions 500: all as problem+json. Adds X-Request-Id,
/// Strict-Transport-Security, X-Content-Type-Options. Counts fathom_http_requests_total{route,method,status} and
/// fathom_http_request_seconds{route}.
class Server {
  public:
    /// `metrics` and the router's handlers must outlive the server.
    Server(asio::io_context& context, TlsContext tls, Router router, ServerLimits limits, Metrics& metrics);
    ~Server();
    Server(const Server&) = delete;
    Server& operator=(const Server&) = delete;

    /// Binds and starts accepting. Port 0 takes a free port.
    /// @error kUnavailable  the address cannot be bound; the detail names it and the cause.
    Result<void> listen(const AddressPort& address);
    /// The same on a socket that was bound before.
    Result<void> listen(ListeningSocket socket);

    /// What connections that come from now on are shown; those that live keep what they began with. Thread-safe.
    void set_tls(TlsContext tls);

    /// The bound port, after listen().
    std::uint16_t port() const;

    /// Stops accepting, closes idle connections and WebSockets, lets requests in flight finish for at
    /// most `grace`, then closes the rest. Returns when all are gone. Await it on the io_context.
    asio::awaitable<void> stop(std::chrono::seconds grace);

  private:
    struct State;
    std::shared_ptr<State> state_;
};

} // namespace fathom::net
