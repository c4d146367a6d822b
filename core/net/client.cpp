#include "core/net/client.hpp"

#include "core/base/settings.hpp"
#include "core/net/message_parser.hpp"
#include "core/net/tls_connect.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/flat_buffer.hpp>

#include <array>
#include <atomic>
#include <cerrno>
#include <sys/socket.h>

namespace fathom::net {
namespace {

constexpr std::size_t kAnswerReadBytes = 64UL << 10U;

/// A request may be sent again when the first try was lost and nothing can have been done twice.
bool is_idempotent(Method method)
{
    return method != Method::kPost && method != Method::kPatch;
}

/// Between requests a server sends nothing but its goodbye, so anything to read means it closed.
bool has_been_closed(Tcp::socket& socket)
{
    char byte = 0;
    const ssize_t size = ::recv(socket.native_handle(), &byte, 1, MSG_PEEK | MSG_DONTWAIT);
    return size >= 0 || (errno != EAGAIN && errno != EWOULDBLOCK);
}

bool is_safe(std::string_view text)
{
    for (const char c : text) {
        if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) return false;
    }
    return true;
}

/// The request line and header. Empty when something in it would break the line structure.
std::string make_head(const Endpoint& endpoint, Method method, const std::string& target, const Headers& headers,
                      std::size_t body_bytes)
{
    std::string head(to_string(method));
    if (!target.starts_with('/') || !is_safe(target) || target.find(' ') != std::string::npos) return {};
    head += " " + target + " HTTP/1.1\r\nHost: " + host_header(endpoint) + "\r\n";
    if (!headers.contains("User-Agent")) head += "User-Agent: fathom/" FATHOM_VERSION "\r\n";
    const bool has_length =
        body_bytes != 0 || method == Method::kPost || method == Method::kPut || method == Method::kPatch;
    if (has_length) head += "Content-Length: " + std::to_string(body_bytes) + "\r\n";
    for (const auto& [name, value] : headers) {
        if (!is_safe(name) || !is_safe(value)) return {};
        head += name;
        head += ": ";
        head += value;
        head += "\r\n";
    }
    head += "\r\n";
    return head;
}

struct Exchange {
    Method method{};
    std::string head;
    const std::string* body = nullptr;
    const ResponseParser::OnData* on_data = nullptr; ///< streamed when there is one
    bool answer_began = false;
};

} // namespace

Result<Endpoint> parse_endpoint(std::string_view url)
{
    constexpr std::string_view kScheme = "https://";
    const Error bad(Errc::kInvalid, "not an https address: " + std::string(url));
    const bool has_scheme = url.starts_with(kScheme);
    std::string_view rest = has_scheme ? url.substr(kScheme.size()) : url;
    if (has_scheme && rest.ends_with('/')) rest.remove_suffix(1);
    if (rest.empty() || rest.find_first_of("/?#@ \t\r\n") != std::string_view::npos) return bad;
    // A colon after any IPv6 bracket starts the port.
    const std::size_t bracket = rest.rfind(']');
    const std::size_t colon = rest.find(':', bracket == std::string_view::npos ? 0 : bracket);
    if (colon == std::string_view::npos && !has_scheme) return bad;
    const std::string full = colon == std::string_view::npos ? std::string(rest) + ":443" : std::string(rest);
    Result<AddressPort> parsed = parse_address_port(full);
    if (!parsed || parsed->port == 0) return bad;
    return Endpoint{std::move(parsed->host), parsed->port};
}

struct HttpClient::State {
    State(Endpoint where, TlsContext context, ClientOptions bounds)
        : endpoint(std::move(where)), tls(std::move(context)), options(bounds)
    {
    }

    Endpoint endpoint;
    TlsContext tls;
    ClientOptions options;
    asio::io_context io{1};
    std::unique_ptr<TlsStream> stream;
    boost::beast::flat_buffer buffer;
    std::chrono::steady_clock::time_point heard_at{}; ///< when something was read last, or the exchange began
    std::atomic<bool> is_interrupted{false};

    Result<ClientResponse> run(Exchange exchange);
    asio::awaitable<Result<ClientResponse>> perform(Exchange& exchange);
    asio::awaitable<Result<ClientResponse>> send_and_read(Exchange& exchange);
    asio::awaitable<Result<ClientResponse>> read_answer(Exchange& exchange);
    asio::awaitable<Result<void>> read_some(ResponseParser& parser, Exchange& exchange);
    void begin_answer(std::optional<ResponseParser>& parser, const Exchange& exchange) const;
    Result<void> parse_buffered(std::optional<ResponseParser>& parser, const Exchange& exchange);
    ClientResponse take_answer(ResponseParser& parser, bool keeps_connection);
    void drop();
};

Result<ClientResponse> HttpClient::State::run(Exchange exchange)
{
    Result<ClientResponse> outcome = Error{Errc::kInternal, "the client did not run"};
    auto done = [&](const std::exception_ptr& thrown, Result<ClientResponse> result) {
        if (thrown)
            outcome = Error{Errc::kInternal, "the client failed"};
        else
            outcome = std::move(result);
    };
    io.restart();
    asio::co_spawn(io, perform(exchange), done);
    io.run();
    return outcome;
}

void HttpClient::State::drop()
{
    stream.reset();
    buffer.clear();
}

asio::awaitable<Result<ClientResponse>> HttpClient::State::perform(Exchange& exchange)
{
    if (stream && has_been_closed(stream->next_layer())) drop();
    for (;;) {
        if (is_interrupted) co_return Error{Errc::kUnavailable, "interrupted"};
        const bool reused = stream != nullptr;
        if (!reused) {
            Result<std::unique_ptr<TlsStream>> opened = co_await connect_tls(endpoint, tls, options);
            if (!opened) co_return opened.error();
            stream = std::move(*opened);
        }
        if (is_interrupted) co_return Error{Errc::kUnavailable, "interrupted"};
        Result<ClientResponse> result = co_await send_and_read(exchange);
        if (result) co_return result;
        drop();
        const bool try_again = reused && !exchange.answer_began && is_idempotent(exchange.method) &&
                               result.error().code == Errc::kUnavailable;
        if (!try_again) co_return result;
    }
}

asio::awaitable<Result<ClientResponse>> HttpClient::State::send_and_read(Exchange& exchange)
{
    asio::steady_timer timer(io);
    bool timed_out = false;
    bool ended = false; // then the stream may be gone, and it is too late to be too late
    const bool is_stream = exchange.on_data != nullptr;
    const std::chrono::milliseconds limit = is_stream ? options.stream_idle_time : options.response_time;
    heard_at = std::chrono::steady_clock::now();
    std::function<void(const boost::system::error_code&)> look_at_time = [&](const boost::system::error_code& ec) {
        if (ec || ended) return;
        if (is_stream && heard_at + limit > std::chrono::steady_clock::now()) { // something came meanwhile
            timer.expires_at(heard_at + limit);
            timer.async_wait(look_at_time);
            return;
        }
        timed_out = true;
        boost::system::error_code ignored;
        stream->next_layer().close(ignored);
    };
    if (limit.count() > 0) {
        timer.expires_after(limit);
        timer.async_wait(look_at_time);
    }
    const std::array<asio::const_buffer, 2> message{asio::buffer(exchange.head), asio::buffer(*exchange.body)};
    const auto [ec, size] = co_await asio::async_write(*stream, message, kAsTuple);
    // Also after a failed write: the server may have refused the request before it took all of it.
    Result<ClientResponse> result = co_await read_answer(exchange);
    if (!result && ec && !exchange.answer_began)
        result = Error{Errc::kUnavailable, "the connection to " + to_string(endpoint) + " is lost: " + ec.message()};
    ended = true;
    timer.cancel();
    // The handler of the timer refers to this frame: let it run before the frame goes.
    co_await asio::post(io, asio::use_awaitable);
    if (timed_out) drop();
    if (timed_out && !result) {
        co_return Error{Errc::kDeadline,
                        "no answer from " + to_string(endpoint) + " within " + std::to_string(limit.count()) + " ms"};
    }
    co_return result;
}

asio::awaitable<Result<void>> HttpClient::State::read_some(ResponseParser& parser, Exchange& exchange)
{
    const auto [ec, size] = co_await stream->async_read_some(buffer.prepare(kAnswerReadBytes), kAsTuple);
    buffer.commit(size);
    if (size != 0) exchange.answer_began = true;
    heard_at = std::chrono::steady_clock::now();
    if (!ec) co_return Result<void>();
    boost::system::error_code incomplete;
    // A body without a length ends with the connection; anything else must not.
    if (ec == asio::error::eof && parser.is_header_done()) parser.put_eof(incomplete);
    if (parser.is_done()) co_return Result<void>();
    co_return Error{Errc::kUnavailable, "the connection to " + to_string(endpoint) + " is lost: " + ec.message()};
}

void HttpClient::State::begin_answer(std::optional<ResponseParser>& parser, const Exchange& exchange) const
{
    parser.emplace(options.body_bytes, exchange.on_data);
    parser->eager(true);
    if (exchange.method == Method::kHead) parser->skip(true);
}

/// What has been received, as far as it goes.
Result<void> HttpClient::State::parse_buffered(std::optional<ResponseParser>& parser, const Exchange& exchange)
{
    while (buffer.size() != 0 && !parser->is_done()) {
        boost::system::error_code ec;
        buffer.consume(parser->put(buffer.cdata(), ec));
        if (ec == http::error::need_more) break;
        if (ec == http::error::body_limit) return Error{Errc::kTooLarge, "the answer is too large"};
        if (ec) return Error{Errc::kUnavailable, "the answer is malformed: " + ec.message()};
        // 1xx answers only announce the real one.
        if (parser->is_done() && parser->response().status < 200) begin_answer(parser, exchange);
    }
    return {};
}

ClientResponse HttpClient::State::take_answer(ResponseParser& parser, bool keeps_connection)
{
    ClientResponse response = std::move(parser.response());
    if (!keeps_connection) drop();
    return response;
}

asio::awaitable<Result<ClientResponse>> HttpClient::State::read_answer(Exchange& exchange)
{
    std::optional<ResponseParser> parser;
    begin_answer(parser, exchange);
    for (;;) {
        const Result<void> parsed = parse_buffered(parser, exchange);
        if (!parsed) co_return parsed.error();
        if (parser->is_stopped()) co_return take_answer(*parser, false);
        if (!parser->is_done()) {
            const Result<void> received = co_await read_some(*parser, exchange);
            if (!received) co_return received.error();
            if (!parser->is_done()) continue;
        }
        co_return take_answer(*parser, parser->keep_alive());
    }
}

HttpClient::HttpClient(Endpoint endpoint, TlsContext tls, ClientOptions options)
    : state_(std::make_unique<State>(std::move(endpoint), std::move(tls), options))
{
}
HttpClient::~HttpClient() = default;
HttpClient::HttpClient(HttpClient&&) noexcept = default;
HttpClient& HttpClient::operator=(HttpClient&&) noexcept = default;

Result<ClientResponse> HttpClient::request(Method method, const std::string& target, const Headers& headers,
                                           const std::string& body)
{
    Exchange exchange;
    exchange.method = method;
    exchange.head = make_head(state_->endpoint, method, target, headers, body.size());
    exchange.body = &body;
    if (exchange.head.empty()) return Error{Errc::kInvalid, "the target or a header holds characters that it must not"};
    return state_->run(std::move(exchange));
}

Result<ClientResponse> HttpClient::stream(Method method, const std::string& target, const Headers& headers,
                                          const std::function<bool(std::string_view)>& on_data)
{
    const std::string no_body;
    Exchange exchange;
    exchange.method = method;
    exchange.head = make_head(state_->endpoint, method, target, headers, 0);
    exchange.body = &no_body;
    exchange.on_data = &on_data;
    if (exchange.head.empty()) return Error{Errc::kInvalid, "the target or a header holds characters that it must not"};
    return state_->run(std::move(exchange));
}

void HttpClient::interrupt()
{
    state_->is_interrupted = true;
    asio::post(state_->io, [state = state_.get()] {
        boost::system::error_code ignored;
        if (state->stream) state->stream->next_layer().close(ignored);
    });
}

} // namespace fathom::net
