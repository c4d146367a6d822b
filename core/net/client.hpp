#pragma once

#include "core/net/http.hpp"
#include "core/net/tls.hpp"
#include "core/net/websocket.hpp"

#include <chrono>
#include <functional>
#include <memory>
#include <string>

namespace boost::asio {
class io_context;
}

namespace fathom::net {

/// Where a client connects: scheme is always https/wss.
struct Endpoint {
    std::string host;
    std::uint16_t port{443};
};

/// Parses `https://host[:port]` (a path or other scheme is an error) or plain `host:port`.
Result<Endpoint> parse_endpoint(std::string_view url);

struct ClientResponse {
    int status{};
    Headers headers;
    std::string body;
};

struct ClientOptions {
    std::chrono::milliseconds connect_time{10000};
    /// More for the TLS handshake, once the host has taken the connection: a server to which very many come at once
    /// gets to one after the other.
    std::chrono::milliseconds queue_time{0};
    std::chrono::milliseconds response_time{60000}; ///< from the request to the end of its answer
    std::chrono::milliseconds stream_idle_time{0};  ///< of stream(), with nothing to read; 0: for ever
    std::size_t body_bytes = 64UL << 20U;           ///< of an answer, or of one WebSocket message
    std::chrono::milliseconds websocket_idle_time{30000};
};

/// One keep-alive HTTPS connection that blocks its caller; reconnects when the server closed it
/// between requests. Not thread-safe. For the CLI, enrolment and tests.
class HttpClient {
  public:
    HttpClient(Endpoint endpoint, TlsContext tls, ClientOptions options = {});
    ~HttpClient();
    HttpClient(HttpClient&&) noexcept;
    HttpClient& operator=(HttpClient&&) noexcept;

    /// @error kUnavailable  cannot connect, TLS refused or connection lost; the detail says which.
    /// @error kDeadline     too slow.
    Result<ClientResponse> request(Method method, const std::string& target, const Headers& headers,
                                   const std::string& body);

    /// Like request(), but hands the body over as it arrives; `on_data` returns false to stop.
    /// The answer's `body` holds what came with a status of 400 or more. No response_time limit, but stream_idle_time.
    Result<ClientResponse> stream(Method method, const std::string& target, const Headers& headers,
                                  const std::function<bool(std::string_view)>& on_data);

    /// Ends the request or stream under way, and all later ones, with kUnavailable; one that is still connecting does
    /// so when it is connected, or connect_time is over. Thread-safe, unlike all else here.
    void interrupt();

  private:
    struct State;
    std::unique_ptr<State> state_;
};

} // namespace fathom::net
