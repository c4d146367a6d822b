#include "core/net/connection.hpp"

#include "core/base/id.hpp"
#include "core/base/log.hpp"
#include "core/base/log_limit.hpp"
#include "core/net/http_status.hpp"
#include "core/net/network.hpp"
#include "core/net/proxy_header.hpp"
#include "core/net/url.hpp"

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>

#include <limits>
#include <utility>

namespace fathom::net {
namespace {

constexpr auto kNever = std::numeric_limits<std::chrono::steady_clock::rep>::max();
constexpr std::chrono::seconds kLingerTime{2};
/// Allocating TLS's buffers of 2 × 17 KiB anew for each request costs a busy connection more than it is worth.
constexpr std::chrono::seconds kBuffersTime{1};

bool is_from(const AddressNetworks& networks, const Tcp::socket& socket)
{
    boost::system::error_code ec;
    const Tcp::endpoint endpoint = socket.remote_endpoint(ec);
    return !ec && networks.contains(endpoint.address().to_string());
}

/// Instead of one that is large, while others are being read slowly.
Response too_many_answers(const std::string& request_id)
{
    log_limited("too_many_large_answers");
    return problem(Error(Errc::kUnavailable, "too many large answers are being sent at once; try again"), request_id);
}

} // namespace

Connection::Connection(std::shared_ptr<ServerCore> core, Strand strand, Tcp::socket socket)
    : core_(std::move(core)), strand_(std::move(strand)),
      stream_(std::move(socket), *core_->tls()), // a stream keeps what it needs of it
      is_proxied_(is_from(core_->limits.proxies, stream_.next_layer())),
      remote_address_(remote_address_of(stream_.next_layer())), wake_(strand_), deadline_(kNever),
      buffers_until_(kNever)
{
}

void Connection::start()
{
    asio::post(strand_, [self = shared_from_this()] {
        auto done = [self](const std::exception_ptr& thrown) {
            if (thrown && !self->killed_) log_error("connection_failed", {{"remote", self->remote_address_}});
            self->close_socket();
            self->core_->remove(self);
        };
        asio::co_spawn(self->strand_, self->run(), asio::bind_cancellation_slot(self->cancel_.slot(), std::move(done)));
    });
}

void Connection::begin_stop()
{
    asio::post(strand_, [self = shared_from_this()] {
        boost::system::error_code ignored;
        if (self->phase_ == Phase::kHandshake) self->close_socket();
        // Cancelled, not closed: the coroutine wakes and says goodbye properly.
        if (self->phase_ == Phase::kIdle) self->stream_.next_layer().cancel(ignored);
        if (self->phase_ == Phase::kIdle || self->streaming_) self->wake_.cancel();
        if (self->websocket_) self->websocket_->close("the server is stopping");
    });
}

void Connection::kill()
{
    asio::post(strand_, [self = shared_from_this()] {
        self->killed_ = true;
        self->close_socket();
        if (self->websocket_) self->websocket_->kill();
        self->cancel_.emit(asio::cancellation_type::terminal);
    });
}

void Connection::check_deadline(SteadyTime now)
{
    const auto time = now.time_since_epoch().count();
    if (buffers_until_.load(std::memory_order_relaxed) <= time)
        asio::post(strand_, [self = shared_from_this()] { self->give_buffers_back(); });
    if (deadline_.load(std::memory_order_relaxed) > time) return;
    asio::post(strand_, [self = shared_from_this()] { self->expire(); });
}

void Connection::give_buffers_back()
{
    // The phase may have changed since the server looked.
    const auto now = std::chrono::steady_clock::now().time_since_epoch().count();
    if (phase_ != Phase::kIdle || buffers_until_.load(std::memory_order_relaxed) > now) return;
    buffers_until_.store(kNever, std::memory_order_relaxed);
    SSL_free_buffers(stream_.native_handle()); // does nothing while a record is half read
    std::string().swap(out_);
}

void Connection::expire()
{
    // The phase may have changed since the server looked.
    const auto now = std::chrono::steady_clock::now().time_since_epoch().count();
    if (deadline_.load(std::memory_order_relaxed) > now) return;
    log_debug("connection_expired", {{"remote", remote_address_}, {"phase", static_cast<int>(phase_)}});
    boost::system::error_code ignored;
    if (phase_ == Phase::kIdle) {
        deadline_.store(kNever, std::memory_order_relaxed);
        peer_gone_ = true; // whatever comes now comes too late
        stream_.next_layer().cancel(ignored);
    } else {
        close_socket();
    }
    wake_.cancel();
}

void Connection::enter(Phase phase, std::chrono::milliseconds limit)
{
    phase_ = phase;
    const SteadyTime now = std::chrono::steady_clock::now();
    deadline_.store((now + limit).time_since_epoch().count(), std::memory_order_relaxed);
    const auto keep = phase == Phase::kIdle ? (now + kBuffersTime).time_since_epoch().count() : kNever;
    buffers_until_.store(keep, std::memory_order_relaxed);
}

void Connection::enter_unlimited(Phase phase)
{
    phase_ = phase;
    buffers_until_.store(kNever, std::memory_order_relaxed);
    deadline_.store(kNever, std::memory_order_relaxed);
}

void Connection::close_socket()
{
    if (websocket_) return; // it owns the socket now
    boost::system::error_code ignored;
    stream_.next_layer().close(ignored);
    peer_gone_ = true;
    wake_.cancel();
}

asio::awaitable<void> Connection::run()
{
    const bool open = co_await shake_hands();
    if (!open) co_return;
    After after = After::kKeepAlive;
    while (after == After::kKeepAlive)
        after = co_await serve_one();
    // Not within serve_one(): nothing of the request is kept for as long as the WebSocket is open.
    if (after == After::kUpgrade) after = co_await upgrade();
    if (after != After::kGone) co_await close_gracefully(after);
}

/// Learns from the proxy who its client is. Reads not a byte more, for the TLS handshake follows.
asio::awaitable<bool> Connection::receive_proxy_header()
{
    std::string received;
    ProxyHeader header = read_proxy_header(received);
    while (header.state == ProxyHeader::State::kIncomplete) {
        const std::size_t before = received.size();
        received.resize(before + header.needed);
        const auto [ec, size] = co_await asio::async_read(
            stream_.next_layer(), asio::buffer(received.data() + before, header.needed), kAsTuple);
        if (ec) co_return false; // a check whether the port is open, say
        header = read_proxy_header(received);
    }
    if (header.state == ProxyHeader::State::kRefused) {
        log_limited("proxy_header_refused", {{"proxy", remote_address_}});
        co_return false;
    }
    if (!header.client_address.empty()) remote_address_ = header.client_address;
    co_return core_->set_network(this, remote_address_);
}

asio::awaitable<bool> Connection::shake_hands()
{
    if (core_->stopping.load()) co_return false;
    enter(Phase::kHandshake, core_->limits.handshake_time);
    if (is_proxied_) {
        const bool is_known = co_await receive_proxy_header();
        if (!is_known) co_return false;
    }
    const auto [ec] = co_await stream_.async_handshake(TlsSide::kServer, kAsTuple);
    if (ec) {
        log_debug("tls_handshake_failed", {{"remote", remote_address_}, {"error", ec.message()}});
        co_return false;
    }
    peer_certificate_ = verified_certificate(stream_);
    SSL_clear_mode(stream_.native_handle(), SSL_MODE_RELEASE_BUFFERS); // give_buffers_back() does it
    co_return core_->settle(this, peer_certificate_.has_value());
}

asio::awaitable<Connection::After> Connection::serve_one()
{
    RequestParser parser(core_->limits.header_bytes);
    Refusal refusal;
    const ReadOutcome outcome = co_await read_header(parser, refusal);
    if (outcome == ReadOutcome::kClosed) co_return After::kClose;

    Exchange exchange;
    exchange.request_id = RequestId::make().value;
    exchange.method = parser.request().method;
    exchange.started = std::chrono::steady_clock::now();
    enter_unlimited(Phase::kHandling);
    if (outcome == ReadOutcome::kRefused) {
        exchange.linger = true;
        co_return co_await respond(exchange, status_problem(refusal.status, refusal.error, exchange.request_id));
    }
    exchange.keep_alive = parser.keep_alive();
    exchange.chunked_allowed = parser.version() == 11;
    co_return co_await answer(parser, exchange);
}

asio::awaitable<Connection::After> Connection::answer(RequestParser& parser, Exchange& exchange)
{
    Request& request = parser.request();
    const std::optional<TargetParts> parts = split_target(request.target);
    std::optional<std::string> path;
    std::optional<std::map<std::string, std::string>> query;
    if (parts) {
        path = percent_decode(parts->path);
        query = parse_query(parts->query);
    }
    if (!path || !query) {
        const Error error(Errc::kInvalid, "the request's path or query is malformed");
        co_return co_await refuse(parser, exchange, problem(error, exchange.request_id));
    }
    if (!parser.is_known_method()) {
        const Error error(Errc::kInvalid, "the method is not known here");
        co_return co_await refuse(parser, exchange, status_problem(501, error, exchange.request_id));
    }
    request.path = std::move(*path);
    request.query = std::move(*query);
    request.remote_address = remote_address_;
    request.peer_certificate = peer_certificate_;
    request.request_id = exchange.request_id;

    Router::Match match = core_->router.match(request.method, parts->path, parser.is_websocket_upgrade());
    if (auto* found = std::get_if<Router::Http>(&match)) co_return co_await handle(parser, std::move(*found), exchange);
    if (auto* found = std::get_if<Router::Upgrade>(&match))
        co_return co_await hand_over(parser, std::move(*found), exchange);
    if (auto* wrong = std::get_if<Router::WrongMethod>(&match))
        co_return co_await refuse_method(parser, std::move(wrong->allowed), exchange);
    const Error error(Errc::kNotFound, "there is nothing at this path");
    co_return co_await refuse(parser, exchange, problem(error, exchange.request_id));
}

asio::awaitable<Connection::After> Connection::handle(RequestParser& parser, Router::Http route, Exchange& exchange)
{
    Request& request = parser.request();
    request.path_params = std::move(route.path_params);
    exchange.pattern = std::move(route.pattern);
    exchange.handler = route.handler;
    ByteBudget::Share share(core_->bodies); // until the handler is done with the body
    Response refusal;
    const ReadOutcome outcome = co_await read_body(parser, *route.body, share, refusal);
    if (outcome == ReadOutcome::kClosed) co_return After::kClose;
    if (outcome == ReadOutcome::kRefused) co_return co_await refuse(parser, exchange, std::move(refusal));
    if (phase_ == Phase::kReading) exchange.started = std::chrono::steady_clock::now(); // the body took its time
    enter_unlimited(Phase::kHandling);
    Response response = co_await call_handler(*route.handler, std::move(request));
    share.give_back(); // the answer may be read slowly
    const std::shared_ptr<const void> room = take_room(response);
    if (!room) response = too_many_answers(exchange.request_id);
    co_return co_await respond(exchange, std::move(response));
}

std::shared_ptr<const void> Connection::take_room(const Response& response) const
{
    // Each reader that is known counts for itself, from whatever address. What strangers hold takes nothing from them.
    if (!response.reader.empty()) return core_->answers.take(response.reader, response.body.size());
    return core_->answers_to_strangers.take(network_of(remote_address_), response.body.size());
}

/// Takes note of what is to become a WebSocket.
asio::awaitable<Connection::After> Connection::hand_over(RequestParser& parser, Router::Upgrade route,
                                                         Exchange& exchange)
{
    Request& request = parser.request();
    request.path_params = std::move(route.path_params);
    exchange.pattern = std::move(route.pattern);
    exchange.handler = route.handler;
    if (watching_ || buffer_.size() != 0 || !parser.is_done()) { // the stream cannot change hands with a read pending
        const Error error(Errc::kInvalid, "a WebSocket needs a new connection");
        co_return co_await refuse(parser, exchange, problem(error, exchange.request_id));
    }
    record(exchange, 101);
    upgrade_handler_ = route.handler;
    upgrade_request_ = std::move(request);
    co_return After::kUpgrade;
}

/// @param allowed  methods, as the header Allow has them; empty: none, a WebSocket is served here.
asio::awaitable<Connection::After> Connection::refuse_method(RequestParser& parser, std::string allowed,
                                                             Exchange& exchange)
{
    const Error error(Errc::kInvalid,
                      allowed.empty() ? "only a WebSocket lives here" : "the method is not allowed here");
    Response response = status_problem(allowed.empty() ? 426 : 405, error, exchange.request_id);
    if (allowed.empty())
        response.headers["Upgrade"] = "websocket";
    else
        response.headers["Allow"] = allowed;
    co_return co_await refuse(parser, exchange, std::move(response));
}

/// Answers a request whose body may not have been read.
asio::awaitable<Connection::After> Connection::refuse(RequestParser& parser, Exchange& exchange, Response response)
{
    enter_unlimited(Phase::kHandling);
    // A body that came along with its header is passed over. To wait for the rest of one would be to read it.
    Refusal ignored;
    const bool passed_over = parser.is_done() || take_buffered_body(parser, ignored) == ReadOutcome::kDone;
    if (!passed_over) exchange.linger = true;
    if (!passed_over) exchange.keep_alive = false;
    co_return co_await respond(exchange, std::move(response));
}

asio::awaitable<Response> Connection::call_handler(const Handler& handler, Request request)
{
    const std::string id = request.request_id;
    std::string what = "unknown exception";
    try {
        co_return co_await handler(std::move(request));
    } catch (const std::exception& e) {
        what = e.what();
    } catch (...) { // NOLINT(bugprone-empty-catch): answered and logged below
    }
    if (!killed_) log_error("handler_failed", {{"request_id", id}, {"error", what}});
    co_return problem(Error(Errc::kInternal, what), id);
}

asio::awaitable<Connection::After> Connection::upgrade()
{
    Request request = std::exchange(upgrade_request_, Request());
    enter_unlimited(Phase::kUpgraded);
    SSL_set_mode(stream_.native_handle(), SSL_MODE_RELEASE_BUFFERS);
    buffer_.shrink_to_fit(); // to nothing: what follows is read into the WebSocket's own memory
    WebSocketOptions options;
    options.message_bytes = core_->limits.websocket_message_bytes;
    options.queue_bytes = core_->limits.websocket_queue_bytes;
    options.idle_time = core_->limits.websocket_idle_time;
    websocket_ = std::make_shared<WebSocketSession>(std::move(stream_), strand_, options);
    const std::shared_ptr<WebSocketSession> socket = websocket_;
    const Result<void> accepted = co_await socket->accept(request);
    if (!accepted) {
        socket->kill();
        co_return After::kGone;
    }
    if (core_->stopping.load()) socket->close("the server is stopping");
    const std::string id = request.request_id;
    try {
        co_await (*upgrade_handler_)(socket, std::move(request));
    } catch (const std::exception& e) {
        if (!killed_) log_error("handler_failed", {{"request_id", id}, {"error", e.what()}});
    } catch (...) {
        log_error("handler_failed", {{"request_id", id}, {"error", "unknown exception"}});
    }
    if (killed_) { // nothing can be awaited any more
        socket->kill();
        co_return After::kGone;
    }
    co_await socket->finish();
    co_return After::kGone;
}

asio::awaitable<void> Connection::close_gracefully(After after)
{
    enter(Phase::kClosing, kLingerTime);
    // Our goodbye is sent; the peer's is not waited for.
    SSL_set_shutdown(stream_.native_handle(), SSL_RECEIVED_SHUTDOWN);
    co_await stream_.async_shutdown(kAsTuple);
    if (after != After::kLinger) co_return;
    // Closing with input unread would reset the connection and could destroy the answer on its way.
    boost::system::error_code ec;
    stream_.next_layer().shutdown(Tcp::socket::shutdown_send, ec);
    std::array<char, 4096> sink{};
    while (!ec) {
        const auto [failed, size] = co_await stream_.next_layer().async_read_some(asio::buffer(sink), kAsTuple);
        ec = failed;
    }
}

} // namespace fathom::net
