#include "core/net/response_head.hpp"

#include "core/net/http_status.hpp"

#include <array>
#include <charconv>
#include <ctime>

namespace fathom::net {
namespace {

void append_number(std::string& out, std::size_t number)
{
    std::array<char, 20> digits{};
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr;
    out.append(digits.data(), end);
}

/// RFC 9110's date of now; formatted once a second and thread.
std::string_view http_date()
{
    thread_local std::time_t last = 0;
    thread_local std::array<char, 40> text{};
    thread_local std::size_t size = 0;
    const std::time_t now = std::time(nullptr);
    if (now != last) {
        std::tm parts{};
        gmtime_r(&now, &parts);
        size = std::strftime(text.data(), text.size(), "%a, %d %b %Y %H:%M:%S GMT", &parts);
        last = now;
    }
    return {text.data(), size};
}

bool is_ours(std::string_view name)
{
    constexpr std::array<std::string_view, 4> kOurs{"Content-Length", "Transfer-Encoding", "Connection", "Date"};
    const HeaderLess less;
    return std::ranges::any_of(kOurs, [&](std::string_view ours) { return !less(ours, name) && !less(name, ours); });
}

void append_clean(std::string& out, std::string_view value)
{
    const std::size_t start = out.size();
    out += value;
    for (std::size_t i = start; i < out.size(); ++i) {
        if (out[i] == '\r' || out[i] == '\n' || out[i] == '\0') out[i] = ' ';
    }
}

void append_framing(std::string& out, int status, const HeadFacts& facts)
{
    if (!has_body(status)) return;
    switch (facts.framing) {
    case BodyFraming::kLength:
        out += "Content-Length: ";
        append_number(out, facts.body_bytes);
        out += "\r\n";
        return;
    case BodyFraming::kChunked:
        out += "Transfer-Encoding: chunked\r\n";
        return;
    case BodyFraming::kUntilClose:
        return;
    }
}

} // namespace

bool has_body(int status)
{
    return status >= 200 && status != 204 && status != 304;
}

void append_head(std::string& out, const Response& response, const HeadFacts& facts)
{
    out += "HTTP/1.1 ";
    append_number(out, static_cast<std::size_t>(response.status));
    out += ' ';
    out += reason_phrase(response.status);
    out += "\r\nDate: ";
    out += http_date();
    out += "\r\nX-Request-Id: ";
    out += facts.request_id;
    out += "\r\nStrict-Transport-Security: max-age=31536000\r\nX-Content-Type-Options: nosniff\r\n";
    for (const auto& [name, value] : response.headers) {
        if (is_ours(name)) continue;
        append_clean(out, name);
        out += ": ";
        append_clean(out, value);
        out += "\r\n";
    }
    append_framing(out, response.status, facts);
    out += facts.keep_alive ? "Connection: keep-alive\r\n\r\n" : "Connection: close\r\n\r\n";
}

} // namespace fathom::net
