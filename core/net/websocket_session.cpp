#include "core/net/websocket_session.hpp"

#include "core/base/json_reader.hpp"
#include "core/base/log.hpp"
#include "core/base/utf8_prefix.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/dispatch.hpp>
#include <boost/beast/core/buffers_to_string.hpp>
#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/message.hpp>

namespace fathom::net {
namespace {

namespace beast = boost::beast;
namespace websocket = boost::beast::websocket;

/// Beast 1.81 reports a failed teardown in place of the close that came before it, hence the reason.
Error closed_error(const boost::system::error_code& ec, const websocket::close_reason& reason)
{
    if (ec == websocket::error::closed || reason.code != websocket::close_code::none) {
        std::string text = "the peer closed the WebSocket";
        if (!reason.reason.empty()) text += ": " + std::string(reason.reason.data(), reason.reason.size());
        const bool is_refused = reason.code == websocket::close_code::policy_error;
        return Error{is_refused ? Errc::kForbidden : Errc::kUnavailable, std::move(text)};
    }
    if (ec == beast::error::timeout) return Error{Errc::kUnavailable, "the WebSocket's peer is silent"};
    return Error{Errc::kUnavailable, "the WebSocket is lost: " + ec.message()};
}

/// Why a server declined the upgrade, from its answer.
Error declined_error(const websocket::response_type& response)
{
    const unsigned status = response.result_int();
    std::string detail = "the server declined the WebSocket with status " + std::to_string(status);
    const Json body = Json::parse(response.body(), nullptr, false);
    if (body.is_object() && body.contains("detail") && body["detail"].is_string())
        detail += ": " + body["detail"].get<std::string>();
    switch (status) {
    case 401:
        return Error{Errc::kUnauthenticated, std::move(detail)};
    case 403:
        return Error{Errc::kForbidden, std::move(detail)};
    case 404:
        return Error{Errc::kNotFound, std::move(detail)};
    default:
        return Error{Errc::kUnavailable, std::move(detail)};
    }
}

} // namespace

WebSocketSession::WebSocketSession(TlsStream stream, asio::any_io_executor executor, WebSocketOptions options)
    : stream_(std::move(stream)), executor_(std::move(executor)), options_(options), inbox_(options.message_bytes + 1),
      wake_(executor_), writer_ended_(executor_)
{
    websocket::stream_base::timeout timeout{};
    timeout.handshake_timeout = options.handshake_time;
    timeout.idle_timeout = options.idle_time;
    timeout.keep_alive_pings = true;
    stream_.set_option(timeout);
    // The inbox bounds messages: its overflow, unlike Beast's own limit, leaves the saying goodbye to us.
    stream_.read_message_max(0);
    stream_.auto_fragment(false); // one frame a message: one record for small ones
    stream_.text(true);
}

asio::awaitable<Result<void>> WebSocketSession::accept(const Request& request)
{
    beast::http::request<beast::http::empty_body> upgrade(beast::http::verb::get, request.target, 11);
    for (const auto& [name, value] : request.headers)
        upgrade.set(name, value);
    const auto [ec] = co_await stream_.async_accept(upgrade, kAsTuple);
    if (ec) co_return Error{Errc::kInvalid, "the WebSocket upgrade failed: " + ec.message()};
    start_writer();
    co_return Result<void>();
}

asio::awaitable<Result<void>> WebSocketSession::handshake(std::string host, std::string target)
{
    websocket::response_type response;
    const auto [ec] = co_await stream_.async_handshake(response, host, target, kAsTuple);
    if (ec == websocket::error::upgrade_declined) co_return declined_error(response);
    if (ec == beast::error::timeout) co_return Error{Errc::kDeadline, "the WebSocket handshake took too long"};
    if (ec) co_return Error{Errc::kUnavailable, "the WebSocket handshake failed: " + ec.message()};
    start_writer();
    co_return Result<void>();
}

bool WebSocketSession::is_on_strand() const
{
    const auto* strand = executor_.target<Strand>();
    return strand != nullptr && strand->running_in_this_thread();
}

asio::awaitable<Result<std::string>> WebSocketSession::read()
{
    if (is_on_strand()) co_return co_await read_on_strand();
    auto self = shared_from_this(); // the reader may be cancelled and gone before the strand is
    auto reading = [](std::shared_ptr<WebSocketSession> session) -> asio::awaitable<Result<std::string>> {
        co_return co_await session->read_on_strand();
    };
    asio::awaitable<Result<std::string>> work = reading(std::move(self));
    co_return co_await asio::co_spawn(executor_, std::move(work), asio::use_awaitable);
}

asio::awaitable<Result<std::string>> WebSocketSession::read_on_strand()
{
    inbox_.clear();
    const auto [ec, size] = co_await stream_.async_read(inbox_, kAsTuple);
    const bool is_too_large = ec == websocket::error::buffer_overflow || (!ec && size > options_.message_bytes);
    if (is_too_large) {
        close_with(websocket::close_code::too_big, "the message is over the limit");
        co_return Error{Errc::kTooLarge, "a WebSocket message is over the limit"};
    }
    if (ec) {
        const Error error = closed_error(ec, stream_.reason());
        open_ = false;
        // Beast has sent the close frame already when the peer's message was at fault.
        drop_connection();
        co_return error;
    }
    if (!stream_.got_text()) {
        close_with(websocket::close_code::unknown_data, "only text messages are understood");
        co_return Error{Errc::kUnavailable, "the peer sent a binary message"};
    }
    std::string text(static_cast<const char*>(inbox_.cdata().data()), size);
    constexpr std::size_t kKeptCapacity = 64UL << 10U;
    if (inbox_.capacity() > kKeptCapacity) {
        inbox_.clear();
        inbox_.shrink_to_fit();
    }
    co_return text;
}

Result<void> WebSocketSession::send(std::string text)
{
    if (!is_open()) return Error{Errc::kUnavailable, "the WebSocket is closed"};
    const std::size_t size = text.size();
    if (queued_bytes_.fetch_add(size) + size > options_.queue_bytes) {
        queued_bytes_.fetch_sub(size);
        kill(); // a goodbye could not pass the queue either
        return Error{Errc::kTooMany, "the WebSocket's peer reads too slowly"};
    }
    asio::dispatch(executor_, [self = shared_from_this(), text = std::move(text)]() mutable {
        if (self->closing_) return;
        self->queue_.push_back(std::move(text));
        self->wake_.cancel();
    });
    return {};
}

void WebSocketSession::close(std::string reason, CloseKind kind)
{
    close_with(kind == CloseKind::kRefused ? websocket::close_code::policy_error : websocket::close_code::normal,
               std::move(reason));
}

void WebSocketSession::close_with(websocket::close_code code, std::string reason)
{
    constexpr std::size_t kMaxReasonLength = 120;
    if (!open_.exchange(false)) return;
    reason = utf8_prefix(reason, kMaxReasonLength);
    asio::dispatch(executor_, [self = shared_from_this(), code, reason = std::move(reason)]() mutable {
        self->close_code_ = code;
        self->close_reason_ = std::move(reason);
        self->closing_ = true;
        self->wake_.cancel();
    });
}

void WebSocketSession::kill()
{
    open_ = false;
    asio::dispatch(executor_, [self = shared_from_this()] { self->drop_connection(); });
}

void WebSocketSession::drop_connection()
{
    closing_ = true;
    boost::system::error_code ignored;
    stream_.next_layer().next_layer().close(ignored);
    wake_.cancel();
}

asio::awaitable<void> WebSocketSession::finish()
{
    close("");
    while (writer_runs_) {
        writer_ended_.expires_at(asio::steady_timer::time_point::max());
        co_await writer_ended_.async_wait(kAsTuple);
    }
    drop_connection();
}

void WebSocketSession::start_writer()
{
    open_ = true;
    writer_runs_ = true;
    auto done = [self = shared_from_this()](const std::exception_ptr& thrown) {
        if (thrown) self->drop_connection();
        self->end_writer();
    };
    asio::co_spawn(executor_, write_until_closed(), std::move(done));
}

void WebSocketSession::end_writer()
{
    open_ = false;
    writer_runs_ = false;
    queue_.clear();
    writer_ended_.cancel();
}

asio::awaitable<void> WebSocketSession::write_until_closed()
{
    // The completion handler keeps *this alive.
    while (!closing_) {
        if (queue_.empty()) {
            wake_.expires_at(asio::steady_timer::time_point::max());
            co_await wake_.async_wait(kAsTuple);
        }
        co_await drain();
    }
    co_await drain();
    if (!stream_.next_layer().next_layer().is_open()) co_return;
    websocket::close_reason reason(close_code_);
    reason.reason.assign(close_reason_.data(), close_reason_.size());
    co_await stream_.async_close(reason, kAsTuple);
    drop_connection();
}

asio::awaitable<void> WebSocketSession::drain()
{
    while (!queue_.empty()) {
        const std::string text = std::move(queue_.front());
        queue_.pop_front();
        const auto [ec, size] = co_await stream_.async_write(asio::buffer(text), kAsTuple);
        queued_bytes_.fetch_sub(text.size());
        if (!ec) continue;
        open_ = false;
        drop_connection();
        queue_.clear();
    }
}

} // namespace fathom::net
