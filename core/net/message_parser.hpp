#pragma once

// Internal to core/net: HTTP/1.1 messages from bytes, straight into our own types.

#include "core/net/client.hpp"
#include "core/net/http.hpp"

#include <boost/beast/http/basic_parser.hpp>

namespace fathom::net {

namespace http = boost::beast::http;
using BeastText = boost::beast::string_view;
using ErrorCode = boost::system::error_code;

/// Parses one request. Feed it with put() until is_done(); it checks what Beast leaves open
/// (total header size, repeated Host, transfer codings other than chunked). Not thread-safe.
class RequestParser final : public http::basic_parser<true> {
  public:
    /// The body has no limit before bound_body() is called.
    explicit RequestParser(std::size_t header_bytes);

    /// Bounds the body, once the header is there. Beast compares an announced length with a limit only if the limit
    /// was set before the header had ended.
    /// @return false if the header announces more: the body must not be read
    [[nodiscard]] bool bound_body(std::size_t limit_bytes);

    Request& request() { return request_; }
    /// False for a method that we do not know; request().method means nothing then.
    bool is_known_method() const { return known_method_; }
    /// 10 or 11; others fail before.
    int version() const { return version_; }
    /// The client waits for a 100 before it sends the body.
    bool expects_continue() const { return expects_continue_; }
    /// Asks for a WebSocket.
    bool is_websocket_upgrade() const;

  private:
    void on_request_impl(http::verb method, BeastText method_text, BeastText target, int version,
                         ErrorCode& ec) override;
    void on_response_impl(int, BeastText, int, ErrorCode&) override {}
    void on_field_impl(http::field name, BeastText name_text, BeastText value, ErrorCode& ec) override;
    void on_header_impl(ErrorCode& ec) override;
    void on_body_init_impl(const boost::optional<std::uint64_t>& length, ErrorCode& ec) override;
    std::size_t on_body_impl(BeastText body, ErrorCode& ec) override;
    void on_chunk_header_impl(std::uint64_t, BeastText, ErrorCode&) override {}
    std::size_t on_chunk_body_impl(std::uint64_t remain, BeastText body, ErrorCode& ec) override;
    void on_finish_impl(ErrorCode&) override {}

    Request request_;
    std::size_t header_room_; ///< bytes that further header fields may take
    int version_ = 11;
    bool known_method_ = false;
    bool expects_continue_ = false;
    bool header_ended_ = false;
};

/// What to answer to a request that failed to parse.
struct Refusal {
    int status{};
    Error error;
};
Refusal refusal_of(const ErrorCode& ec);

/// Parses one response; the body goes to `on_data` when there is one and the status is below 400.
class ResponseParser final : public http::basic_parser<false> {
  public:
    using OnData = std::function<bool(std::string_view)>;

    /// `on_data` may be null; it must outlive the parser. `body_bytes` bounds a body that is kept.
    ResponseParser(std::size_t body_bytes, const OnData* on_data);

    ClientResponse& response() { return response_; }
    /// `on_data` asked to stop.
    bool is_stopped() const { return stopped_; }

  private:
    void on_request_impl(http::verb, BeastText, BeastText, int, ErrorCode&) override {}
    void on_response_impl(int status, BeastText reason, int version, ErrorCode& ec) override;
    void on_field_impl(http::field name, BeastText name_text, BeastText value, ErrorCode& ec) override;
    void on_header_impl(ErrorCode&) override {}
    void on_body_init_impl(const boost::optional<std::uint64_t>&, ErrorCode&) override {}
    std::size_t on_body_impl(BeastText body, ErrorCode& ec) override;
    void on_chunk_header_impl(std::uint64_t, BeastText, ErrorCode&) override {}
    std::size_t on_chunk_body_impl(std::uint64_t remain, BeastText body, ErrorCode& ec) override;
    void on_finish_impl(ErrorCode&) override {}

    ClientResponse response_;
    std::size_t body_bytes_;
    const OnData* on_data_;
    bool stopped_ = false;
};

} // namespace fathom::net
