#include "core/net/message_parser.hpp"

#include <boost/beast/core/string.hpp>
#include <boost/beast/http/error.hpp>

#include <algorithm>
#include <limits>

namespace fathom::net {
namespace {

std::string_view view(BeastText text)
{
    return {text.data(), text.size()};
}

std::optional<Method> method_of(http::verb verb)
{
    switch (verb) {
    case http::verb::get:
        return Method::kGet;
    case http::verb::post:
        return Method::kPost;
    case http::verb::put:
        return Method::kPut;
    case http::verb::patch:
        return Method::kPatch;
    case http::verb::delete_:
        return Method::kDelete;
    case http::verb::head:
        return Method::kHead;
    case http::verb::options:
        return Method::kOptions;
    default:
        return std::nullopt;
    }
}

/// Adds a field; repeated ones are joined as RFC 9110 5.2 says.
void add_field(Headers& headers, http::field name, std::string_view name_text, std::string_view value)
{
    const auto [entry, is_new] = headers.try_emplace(std::string(name_text), value);
    if (is_new) return;
    entry->second += name == http::field::cookie ? "; " : ", ";
    entry->second += value;
}

constexpr std::size_t kFieldOverhead = 4; // ": " and the line end

} // namespace

RequestParser::RequestParser(std::size_t header_bytes) : header_room_(header_bytes)
{
    header_limit(static_cast<std::uint32_t>(header_bytes));
    body_limit(boost::none);
}

bool RequestParser::bound_body(std::size_t limit_bytes)
{
    body_limit(limit_bytes);
    return content_length().value_or(0) <= limit_bytes;
}

bool RequestParser::is_websocket_upgrade() const
{
    return upgrade() && version_ == 11 && boost::beast::iequals(request_.header("Upgrade"), "websocket");
}

void RequestParser::on_request_impl(http::verb verb, BeastText, BeastText target, int version, ErrorCode& ec)
{
    version_ = version;
    if (version != 10 && version != 11) {
        ec = http::error::bad_version;
        return;
    }
    const std::optional<Method> method = method_of(verb);
    known_method_ = method.has_value();
    request_.method = method.value_or(Method::kGet);
    request_.target.assign(target.data(), target.size());
    header_room_ -= std::min(header_room_, target.size());
}

void RequestParser::on_field_impl(http::field name, BeastText name_text, BeastText value, ErrorCode& ec)
{
    const std::size_t size = name_text.size() + value.size() + kFieldOverhead;
    if (size > header_room_) {
        ec = http::error::header_limit; // Beast bounds each piece only, so many small ones could pass
        return;
    }
    header_room_ -= size;
    if (header_ended_) return; // trailers must not pass for headers
    const bool must_be_single = name == http::field::host || name == http::field::authorization;
    if (must_be_single && request_.headers.contains(view(name_text))) {
        ec = http::error::bad_field;
        return;
    }
    if (name == http::field::expect && boost::beast::iequals(value, "100-continue")) expects_continue_ = true;
    add_field(request_.headers, name, view(name_text), view(value));
}

void RequestParser::on_header_impl(ErrorCode& ec)
{
    header_ended_ = true;
    const std::string_view coding = request_.header("Transfer-Encoding");
    // Anything but plain chunked would leave us and a proxy of two minds about where the body ends.
    if (!coding.empty() && (!boost::beast::iequals(coding, "chunked") || version_ == 10))
        ec = http::error::bad_transfer_encoding;
    if (version_ == 11 && !request_.headers.contains("Host")) ec = http::error::bad_field;
}

void RequestParser::on_body_init_impl(const boost::optional<std::uint64_t>& length, ErrorCode&)
{
    // Not the whole announced length: an announcement must not cost us memory.
    constexpr std::uint64_t kLargestReserve = 64UL << 10U;
    if (length) request_.body.reserve(std::min(*length, kLargestReserve));
}

std::size_t RequestParser::on_body_impl(BeastText body, ErrorCode&)
{
    request_.body.append(body.data(), body.size());
    return body.size();
}

std::size_t RequestParser::on_chunk_body_impl(std::uint64_t, BeastText body, ErrorCode&)
{
    request_.body.append(body.data(), body.size());
    return body.size();
}

Refusal refusal_of(const ErrorCode& ec)
{
    if (ec == http::error::header_limit) return {431, Error{Errc::kTooLarge, "the request's header is too large"}};
    if (ec == http::error::body_limit) return {413, Error{Errc::kTooLarge, "the request's body is too large"}};
    if (ec == http::error::bad_version) return {505, Error{Errc::kInvalid, "only HTTP/1.0 and HTTP/1.1 are spoken"}};
    return {400, Error{Errc::kInvalid, "malformed request: " + ec.message()}};
}

ResponseParser::ResponseParser(std::size_t body_bytes, const OnData* on_data)
    : body_bytes_(body_bytes), on_data_(on_data)
{
    constexpr std::uint32_t kHeaderBytes = 64U << 10U;
    header_limit(kHeaderBytes);
    // Counted here instead, because a streamed body has no limit.
    body_limit(boost::none);
}

void ResponseParser::on_response_impl(int status, BeastText, int, ErrorCode&)
{
    response_.status = status;
}

void ResponseParser::on_field_impl(http::field name, BeastText name_text, BeastText value, ErrorCode&)
{
    add_field(response_.headers, name, view(name_text), view(value));
}

std::size_t ResponseParser::on_body_impl(BeastText body, ErrorCode& ec)
{
    if (on_data_ != nullptr && response_.status < 400) {
        if (!stopped_ && !(*on_data_)(view(body))) stopped_ = true;
    } else if (response_.body.size() + body.size() > body_bytes_) {
        ec = http::error::body_limit;
    } else {
        response_.body.append(body.data(), body.size());
    }
    return body.size();
}

std::size_t ResponseParser::on_chunk_body_impl(std::uint64_t, BeastText body, ErrorCode& ec)
{
    return on_body_impl(body, ec);
}

} // namespace fathom::net
