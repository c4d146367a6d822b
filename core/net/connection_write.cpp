// The writing half of a connection: answers, streamed bodies, metrics.
#include "core/base/log.hpp"
#include "core/base/parse_number.hpp"
#include "core/net/connection.hpp"
#include "core/net/response_head.hpp"

#include <boost/asio/bind_executor.hpp>
#include <boost/asio/write.hpp>

#include <array>

namespace fathom::net {
namespace {

// A slow reader has the write time for each piece, so large answers may take longer in all.
constexpr std::size_t kPieceBytes = 256UL << 10U;
// Up to here copying the body behind the head is cheaper than a second TLS record.
constexpr std::size_t kInlineBodyBytes = 64UL << 10U;
// A connection keeps a buffer of this size for its next answer, not more.
constexpr std::size_t kKeptBytes = 128UL << 10U;
constexpr std::size_t kPipelinedBytes = 32UL << 10U;

/// The length that a streamed answer tells beforehand; none when it does not know it.
std::optional<std::size_t> told_length(const Response& response)
{
    const auto header = response.headers.find("Content-Length");
    if (!response.stream || header == response.headers.end()) return std::nullopt;
    const auto length = parse_number<std::size_t>(header->second);
    FATHOM_ASSERT(length.has_value());
    return length;
}

/// How a streamed answer is framed: its own length, or what the client's version of HTTP allows.
void frame_stream(HeadFacts& facts, const Response& response, bool chunked_allowed)
{
    facts.framing = chunked_allowed ? BodyFraming::kChunked : BodyFraming::kUntilClose;
    if (const std::optional<std::size_t> length = told_length(response)) {
        facts.framing = BodyFraming::kLength;
        facts.body_bytes = *length;
    }
}

} // namespace

/// Given to a stream function; fails after the answer has ended. Runs on: the connection's strand.
class StreamWriter final : public BodyWriter {
  public:
    explicit StreamWriter(std::shared_ptr<Connection> connection) : connection_(std::move(connection)) {}

    asio::awaitable<Result<void>> write(std::string chunk) override
    {
        if (ended_) co_return Error{Errc::kUnavailable, "the answer has ended"};
        co_return co_await connection_->write_chunk(std::move(chunk));
    }

    asio::awaitable<Result<void>> sleep(std::chrono::milliseconds duration) override
    {
        if (ended_) co_return Error{Errc::kUnavailable, "the answer has ended"};
        co_return co_await connection_->sleep(duration);
    }

    /// Also drops the connection, which someone who keeps the writer must not hold on to.
    void end()
    {
        ended_ = true;
        connection_.reset();
    }

  private:
    std::shared_ptr<Connection> connection_;
    bool ended_ = false;
};

asio::awaitable<Connection::After> Connection::respond(Exchange& exchange, Response response)
{
    const auto connection = response.headers.find("Connection");
    if (connection != response.headers.end() && connection->second == "close") exchange.keep_alive = false;
    if (core_->stopping.load()) exchange.keep_alive = false;
    if (response.stream && !exchange.chunked_allowed && !told_length(response)) exchange.keep_alive = false;
    const int status = response.status;
    record(exchange, status);

    const bool is_streamed = response.stream && exchange.method != Method::kHead && has_body(status);
    bool sent = false;
    if (is_streamed)
        sent = co_await send_stream(exchange, response);
    else
        sent = co_await send_plain(exchange, response);
    if (!sent) co_return After::kGone;
    if (exchange.linger || (!exchange.keep_alive && buffer_.size() != 0)) co_return After::kLinger;
    co_return exchange.keep_alive ? After::kKeepAlive : After::kClose;
}

asio::awaitable<bool> Connection::send_plain(const Exchange& exchange, const Response& response)
{
    HeadFacts facts;
    facts.request_id = exchange.request_id;
    facts.body_bytes = response.body.size();
    facts.keep_alive = exchange.keep_alive;
    // The GET would stream: when its length is not known, RFC 9110 lets HEAD leave it out.
    if (response.stream) frame_stream(facts, response, exchange.chunked_allowed);
    out_.clear();
    append_head(out_, response, facts);
    const bool with_body = exchange.method != Method::kHead && has_body(response.status);
    const bool is_inline = with_body && response.body.size() <= kInlineBodyBytes;
    if (is_inline) out_ += response.body;
    const bool sent = co_await write_all(out_);
    if (!sent || is_inline || !with_body) co_return sent;
    co_return co_await write_all(response.body);
}

asio::awaitable<bool> Connection::send_stream(const Exchange& exchange, const Response& response)
{
    HeadFacts facts;
    facts.request_id = exchange.request_id;
    frame_stream(facts, response, exchange.chunked_allowed);
    chunked_ = facts.framing == BodyFraming::kChunked;
    left_to_stream_ = told_length(response);
    facts.keep_alive = exchange.keep_alive;
    out_.clear();
    append_head(out_, response, facts);
    bool complete = co_await write_all(out_);
    if (!complete) co_return false;

    streaming_ = true;
    watch_peer();
    const auto writer = std::make_shared<StreamWriter>(shared_from_this());
    try {
        co_await response.stream(writer);
    } catch (const std::exception& e) {
        complete = false; // a missing last chunk tells the client
        if (!killed_) log_error("stream_failed", {{"request_id", exchange.request_id}, {"error", e.what()}});
    }
    writer->end();
    streaming_ = false;
    if (left_to_stream_.value_or(0) != 0) complete = false; // the client waits for more: only closing tells it
    if (!complete || peer_gone_ || killed_) co_return false;
    if (!chunked_) co_return true;
    co_return co_await write_all("0\r\n\r\n");
}

asio::awaitable<bool> Connection::write_all(std::string_view data)
{
    const Phase before = phase_;
    while (!data.empty()) {
        const std::string_view piece = data.substr(0, kPieceBytes);
        enter(Phase::kWriting, core_->limits.write_time);
        const auto [ec, size] = co_await asio::async_write(stream_, asio::buffer(piece), kAsTuple);
        if (ec) {
            peer_gone_ = true;
            co_return false;
        }
        data.remove_prefix(piece.size());
    }
    if (before == Phase::kReading)
        enter(Phase::kReading, core_->limits.request_time);
    else
        enter_unlimited(Phase::kHandling);
    if (out_.capacity() > kKeptBytes) std::string().swap(out_);
    co_return true;
}

asio::awaitable<Result<void>> Connection::write_chunk(std::string chunk)
{
    if (peer_gone_) co_return Error{Errc::kUnavailable, "the peer is gone"};
    if (chunk.empty()) co_return Result<void>(); // an empty chunk would end the body
    if (left_to_stream_) {
        if (chunk.size() > *left_to_stream_) co_return Error{Errc::kInternal, "the answer is longer than was told"};
        *left_to_stream_ -= chunk.size();
    }
    bool sent = false;
    if (chunked_) {
        std::array<char, 16> size{};
        char* const end = std::to_chars(size.data(), size.data() + size.size(), chunk.size(), 16).ptr;
        out_.assign(size.data(), end);
        out_ += "\r\n";
        out_ += chunk;
        out_ += "\r\n";
        sent = co_await write_all(out_);
    } else {
        sent = co_await write_all(chunk);
    }
    if (!sent) co_return Error{Errc::kUnavailable, "the peer is gone or too slow"};
    co_return Result<void>();
}

asio::awaitable<Result<void>> Connection::sleep(std::chrono::milliseconds duration)
{
    if (!is_stream_over()) {
        wake_.expires_after(duration);
        co_await wake_.async_wait(kAsTuple);
    }
    if (is_stream_over()) co_return Error{Errc::kUnavailable, "the server is stopping or the peer is gone"};
    co_return Result<void>();
}

void Connection::watch_peer()
{
    if (watching_ || buffer_.size() > kPipelinedBytes) return;
    watching_ = true;
    auto on_read = [self = shared_from_this()](const boost::system::error_code& ec, std::size_t size) {
        self->watching_ = false;
        if (ec) {
            self->peer_gone_ = true;
        } else {
            asio::buffer_copy(self->buffer_.prepare(size), asio::buffer(self->watch_space_), size);
            self->buffer_.commit(size);
            if (self->streaming_) self->watch_peer();
        }
        if (ec || !self->streaming_) self->wake_.cancel();
    };
    stream_.async_read_some(asio::buffer(watch_space_), asio::bind_executor(strand_, std::move(on_read)));
}

void Connection::record(const Exchange& exchange, int status)
{
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - exchange.started;
    log_debug("request", {{"request_id", exchange.request_id},
                          {"method", to_string(exchange.method)},
                          {"route", exchange.pattern},
                          {"status", status},
                          {"seconds", seconds.count()}});
    for (const CachedMetrics& cached : cached_metrics_) {
        if (cached.handler != exchange.handler || cached.method != exchange.method || cached.status != status) continue;
        cached.requests.add();
        cached.seconds.observe(seconds.count());
        return;
    }
    const std::string route = exchange.pattern.empty() ? "unmatched" : exchange.pattern;
    const CachedMetrics made{exchange.handler, exchange.method, status,
                             core_->metrics.counter("fathom_http_requests_total", "HTTP requests answered.",
                                                    {{"route", route},
                                                     {"method", std::string(to_string(exchange.method))},
                                                     {"status", std::to_string(status)}}),
                             core_->metrics.seconds_histogram("fathom_http_request_seconds",
                                                              "Time from a complete request to its answer.",
                                                              {{"route", route}})};
    made.requests.add();
    made.seconds.observe(seconds.count());
    cached_metrics_.push_back(made);
}

} // namespace fathom::net
