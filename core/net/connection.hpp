#pragma once

// Internal to core/net: what the server and its connections share, and one connection.

#include "core/net/answer_budget.hpp"
#include "core/net/byte_budget.hpp"
#include "core/net/connection_places.hpp"
#include "core/net/message_parser.hpp"
#include "core/net/server.hpp"
#include "core/net/stream.hpp"
#include "core/net/websocket_session.hpp"

#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/beast/core/flat_buffer.hpp>

#include <array>
#include <atomic>
#include <mutex>
#include <optional>
#include <unordered_map>

namespace fathom::net {

class Connection;

/// The part of a server that lives as long as its last connection. Thread-safe.
struct ServerCore {
    Router router;
    ServerLimits limits;
    Metrics& metrics;
    std::atomic<bool> stopping{false};
    std::function<void()> on_empty; ///< called when the last connection goes while stopping
    ByteBudget bodies;
    AnswerBudget answers; ///< to readers that are known
    AnswerBudget answers_to_strangers;

    ServerCore(TlsContext context, Router routes, ServerLimits bounds, Metrics& registry)
        : router(std::move(routes)), limits(std::move(bounds)), metrics(registry), bodies(limits.bodies_bytes),
          answers(limits.answers_bytes), answers_to_strangers(limits.answers_to_strangers_bytes),
          tls_(std::move(context)), places_({limits.connections, limits.connections_of_one_network,
                                             limits.connections_for_certificates, limits.handshakes})
    {
    }

    /// For the next connection.
    TlsContext tls() const;
    void set_tls(TlsContext tls);
    /// May drop another one that has not shown who it is.
    ConnectionPlaces::Answer add(const std::shared_ptr<Connection>& connection);
    /// The client's address is known by now. False when its network has too many connections.
    bool set_network(const Connection* connection, const std::string& remote_address);
    /// The handshake is done, with a client certificate or without. False when the connection may not stay.
    bool settle(const Connection* connection, bool has_certificate);
    void remove(const std::shared_ptr<Connection>& connection);
    std::vector<std::shared_ptr<Connection>> connections() const;
    bool is_empty() const;

  private:
    mutable std::mutex mutex_;
    TlsContext tls_;
    std::unordered_map<const void*, std::shared_ptr<Connection>> connections_;
    ConnectionPlaces places_;
};

/// One accepted connection: TLS, then requests one after another, then perhaps a WebSocket.
///
/// Each phase has a deadline. The server looks at all deadlines a few times a second, which costs a
/// busy connection one atomic store a phase instead of a timer per read and write.
/// Runs on: its strand; the public functions are thread-safe.
class Connection : public std::enable_shared_from_this<Connection> {
  public:
    using SteadyTime = std::chrono::steady_clock::time_point;

    Connection(std::shared_ptr<ServerCore> core, Strand strand, Tcp::socket socket);

    void start();
    /// Of the client, or before start() of the proxy that speaks for it.
    const std::string& remote_address() const { return remote_address_; }
    /// A header of the PROXY protocol comes first.
    bool is_proxied() const { return is_proxied_; }
    /// The server is stopping: closes when idle, else after the answer in flight.
    void begin_stop();
    /// Drops the connection and cancels its handler.
    void kill();
    /// Drops the connection when its phase has taken too long.
    void check_deadline(SteadyTime now);

  private:
    friend class StreamWriter;

    /// kHandshake -> (kIdle -> kReading -> kHandling -> kWriting)* -> kClosing, or -> kUpgraded.
    enum class Phase { kHandshake, kIdle, kReading, kHandling, kWriting, kClosing, kUpgraded };
    enum class ReadOutcome { kMore, kDone, kRefused, kClosed };
    enum class After { kKeepAlive, kClose, kLinger, kUpgrade, kGone };

    /// One request and its answer.
    struct Exchange {
        std::string request_id;
        std::string pattern;           ///< of the route; empty when none matched
        const void* handler = nullptr; ///< identifies the route in the metrics cache
        Method method = Method::kGet;
        SteadyTime started;
        bool keep_alive = false;
        bool chunked_allowed = true; ///< HTTP/1.1
        bool linger = false;         ///< unread input may be on its way
    };

    asio::awaitable<void> run();
    asio::awaitable<bool> receive_proxy_header();
    asio::awaitable<bool> shake_hands();
    asio::awaitable<After> serve_one();
    asio::awaitable<ReadOutcome> read_header(RequestParser& parser, Refusal& refusal);
    /// As much of a message as has been received, until the parser `is_enough`; kMore where that is not all.
    ReadOutcome take_buffered(RequestParser& parser, bool (RequestParser::*is_enough)() const, Refusal& refusal);
    ReadOutcome take_buffered_body(RequestParser& parser, Refusal& refusal);
    asio::awaitable<ReadOutcome> read_body(RequestParser& parser, const BodyRule& rule, ByteBudget::Share& share,
                                           Response& refusal);
    asio::awaitable<ReadOutcome> pass_guard(RequestParser& parser, const Guard& guard, Response& refusal);
    asio::awaitable<bool> receive();
    asio::awaitable<After> answer(RequestParser& parser, Exchange& exchange);
    asio::awaitable<After> hand_over(RequestParser& parser, Router::Upgrade route, Exchange& exchange);
    asio::awaitable<After> refuse_method(RequestParser& parser, std::string allowed, Exchange& exchange);
    asio::awaitable<After> handle(RequestParser& parser, Router::Http route, Exchange& exchange);
    asio::awaitable<After> refuse(RequestParser& parser, Exchange& exchange, Response response);
    asio::awaitable<std::optional<Response>> call_guard(const Guard& guard, const Request& request);
    asio::awaitable<Response> call_handler(const Handler& handler, Request request);
    /// Makes the connection a WebSocket's, as hand_over() has noted.
    asio::awaitable<After> upgrade();
    /// Room for the answer in memory while it is read; nullptr: there is none.
    std::shared_ptr<const void> take_room(const Response& response) const;
    asio::awaitable<After> respond(Exchange& exchange, Response response);
    asio::awaitable<bool> send_plain(const Exchange& exchange, const Response& response);
    asio::awaitable<bool> send_stream(const Exchange& exchange, const Response& response);
    asio::awaitable<bool> write_all(std::string_view data);
    asio::awaitable<void> close_gracefully(After after);

    // For StreamWriter.
    asio::awaitable<Result<void>> write_chunk(std::string chunk);
    asio::awaitable<Result<void>> sleep(std::chrono::milliseconds duration);
    bool is_stream_over() const { return peer_gone_ || core_->stopping.load(); }

    void enter(Phase phase, std::chrono::milliseconds limit);
    void enter_unlimited(Phase phase);
    void expire();
    /// Gives TLS's record buffers and our own back while the client says nothing.
    void give_buffers_back();
    void close_socket();
    void watch_peer();
    void record(const Exchange& exchange, int status);

    /// Metric handles of a route this connection has used, so that the next request takes no look-up.
    struct CachedMetrics {
        const void* handler;
        Method method;
        int status;
        Metrics::Counter requests;
        Metrics::SecondsHistogram seconds;
    };

    const std::shared_ptr<ServerCore> core_;
    const Strand strand_;
    TlsStream stream_;
    bool is_proxied_;
    boost::beast::flat_buffer buffer_; ///< received, not parsed yet
    std::string out_;                  ///< the answer's head, or all of a small answer
    std::string remote_address_;
    std::optional<PeerCertificate> peer_certificate_;
    const WebSocketHandler* upgrade_handler_ = nullptr; ///< of the WebSocket that the connection becomes
    Request upgrade_request_;
    std::shared_ptr<WebSocketSession> websocket_;
    std::vector<CachedMetrics> cached_metrics_;
    asio::cancellation_signal cancel_;
    asio::steady_timer wake_; ///< ends a stream's sleep and waits for the watching read
    std::array<char, 512> watch_space_{};
    std::atomic<std::chrono::steady_clock::rep> deadline_;
    std::atomic<std::chrono::steady_clock::rep> buffers_until_; ///< when an idle connection gives its buffers back
    Phase phase_ = Phase::kHandshake;
    bool watching_ = false; ///< a read is pending beside a streamed answer
    bool streaming_ = false;
    bool chunked_ = false;
    std::optional<std::size_t> left_to_stream_; ///< of a streamed answer whose length was told
    bool peer_gone_ = false;
    bool killed_ = false;
};

} // namespace fathom::net
