// The reading half of a connection: requests, header first.
#include "core/base/log.hpp"
#include "core/base/log_limit.hpp"
#include "core/net/connection.hpp"
#include "core/net/http_status.hpp"

namespace fathom::net {
namespace {

constexpr std::size_t kRequestReadBytes = 16UL << 10U; // one TLS record

/// RFC 9112 2.2: some clients send an empty line after a body.
void skip_line_breaks(boost::beast::flat_buffer& buffer)
{
    const std::string_view text(static_cast<const char*>(buffer.cdata().data()), buffer.size());
    buffer.consume(std::min(text.find_first_not_of("\r\n"), text.size()));
}

} // namespace

asio::awaitable<Connection::ReadOutcome> Connection::read_header(RequestParser& parser, Refusal& refusal)
{
    if (buffer_.size() == 0) {
        enter(Phase::kIdle, core_->limits.idle_time);
        if (core_->stopping.load()) co_return ReadOutcome::kClosed;
        const bool received = co_await receive();
        if (!received) co_return ReadOutcome::kClosed;
    }
    enter(Phase::kReading, core_->limits.request_time);
    for (;;) {
        if (!parser.got_some()) skip_line_breaks(buffer_);
        const ReadOutcome taken = take_buffered(parser, &RequestParser::is_header_done, refusal);
        if (taken != ReadOutcome::kMore) co_return taken;
        const bool received = co_await receive();
        if (!received) co_return ReadOutcome::kClosed;
    }
}

Connection::ReadOutcome Connection::take_buffered(RequestParser& parser, bool (RequestParser::*is_enough)() const,
                                                  Refusal& refusal)
{
    while (!(parser.*is_enough)() && buffer_.size() != 0) {
        boost::system::error_code ec;
        buffer_.consume(parser.put(buffer_.cdata(), ec));
        if (ec == http::error::need_more) break;
        if (ec) {
            refusal = refusal_of(ec);
            return ReadOutcome::kRefused;
        }
    }
    return (parser.*is_enough)() ? ReadOutcome::kDone : ReadOutcome::kMore;
}

/// As much of the body as has been received.
Connection::ReadOutcome Connection::take_buffered_body(RequestParser& parser, Refusal& refusal)
{
    parser.eager(true);
    return take_buffered(parser, &RequestParser::is_done, refusal);
}

/// The whole body. What came along with the header is taken at once; the guard is asked before more is waited for.
asio::awaitable<Connection::ReadOutcome> Connection::read_body(RequestParser& parser, const BodyRule& rule,
                                                               ByteBudget::Share& share, Response& refusal)
{
    const std::string id = parser.request().request_id;
    const std::size_t limit = std::min(rule.most_bytes, core_->limits.body_bytes);
    Refusal malformed = refusal_of(http::error::body_limit);
    const bool is_too_large = !parser.bound_body(limit);
    bool has_passed = false;
    for (;;) {
        const ReadOutcome taken = is_too_large ? ReadOutcome::kRefused : take_buffered_body(parser, malformed);
        if (taken == ReadOutcome::kRefused) {
            refusal = status_problem(malformed.status, malformed.error, id);
            co_return taken;
        }
        if (!share.grow_to(parser.request().body.size())) {
            log_limited("too_many_request_bodies", {{"limit_bytes", core_->limits.bodies_bytes}});
            refusal = problem(Error(Errc::kUnavailable, "too many large requests are read at once; try again"), id);
            co_return ReadOutcome::kRefused;
        }
        if (taken == ReadOutcome::kDone) co_return taken;
        if (!has_passed) {
            const ReadOutcome passed = co_await pass_guard(parser, rule.guard, refusal);
            if (passed != ReadOutcome::kMore) co_return passed;
            has_passed = true;
        }
        const bool received = co_await receive();
        if (!received) co_return ReadOutcome::kClosed;
    }
}

/// kMore when the body may come.
asio::awaitable<Connection::ReadOutcome> Connection::pass_guard(RequestParser& parser, const Guard& guard,
                                                                Response& refusal)
{
    if (guard) {
        std::optional<Response> refused = co_await call_guard(guard, parser.request());
        if (refused) {
            refusal = std::move(*refused);
            co_return ReadOutcome::kRefused;
        }
    }
    enter(Phase::kReading, core_->limits.request_time);
    if (!parser.expects_continue() || !parser.request().body.empty()) co_return ReadOutcome::kMore;
    const bool sent = co_await write_all("HTTP/1.1 100 Continue\r\n\r\n");
    co_return sent ? ReadOutcome::kMore : ReadOutcome::kClosed;
}

asio::awaitable<bool> Connection::receive()
{
    if (peer_gone_) co_return false;
    if (watching_) { // the read beside the last streamed answer still waits, and will bring the data
        const std::size_t before = buffer_.size();
        while (watching_ && buffer_.size() == before && !peer_gone_) {
            const bool stop = phase_ == Phase::kIdle && core_->stopping.load();
            if (stop) co_return false;
            wake_.expires_at(SteadyTime::max());
            co_await wake_.async_wait(kAsTuple);
        }
        co_return buffer_.size() != before;
    }
    // Chunk headers are the only thing that could pile up unparsed.
    if (buffer_.size() > core_->limits.header_bytes + kRequestReadBytes) co_return false;
    const auto [ec, size] = co_await stream_.async_read_some(buffer_.prepare(kRequestReadBytes), kAsTuple);
    buffer_.commit(size);
    co_return !ec;
}

asio::awaitable<std::optional<Response>> Connection::call_guard(const Guard& guard, const Request& request)
{
    std::string what = "unknown exception";
    try {
        co_return co_await guard(request);
    } catch (const std::exception& e) {
        what = e.what();
    } catch (...) { // NOLINT(bugprone-empty-catch): answered and logged below
    }
    if (!killed_) log_error("guard_failed", {{"request_id", request.request_id}, {"error", what}});
    co_return problem(Error(Errc::kInternal, what), request.request_id);
}

} // namespace fathom::net
