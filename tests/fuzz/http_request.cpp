#include "core/net/message_parser.hpp"
#include "tests/fuzz/fuzz_input.hpp"

#include <optional>

namespace {

namespace net = fathom::net;
constexpr std::size_t kHeaderBytes = 4096;
constexpr std::size_t kBodyBytes = 1024;

/// A request as a connection reads it: header first, then the body up to its limit, in pieces as they come.
struct Reading {
    net::RequestParser parser{kHeaderBytes};
    std::optional<net::ErrorCode> refused{};

    void read(std::string_view text, std::size_t piece)
    {
        std::string waiting;
        while (!text.empty() && !parser.is_done() && !refused) {
            waiting += text.substr(0, piece);
            text.remove_prefix(std::min(piece, text.size()));
            take(waiting);
        }
    }

  private:
    void take(std::string& waiting)
    {
        while (!waiting.empty() && !parser.is_done()) {
            const bool was_header_done = parser.is_header_done();
            net::ErrorCode ec;
            waiting.erase(0, parser.put(boost::asio::buffer(waiting), ec));
            if (ec == net::http::error::need_more) return;
            if (ec) {
                refused = ec;
                return;
            }
            if (parser.is_header_done() && !was_header_done) {
                if (!parser.bound_body(kBodyBytes)) {
                    refused = net::http::error::body_limit;
                    return;
                }
                parser.eager(true);
            }
        }
    }
};

} // namespace

/// Whatever a client sends, it is one request or a refusal with a status, however it comes in pieces; header and body
/// keep to their limits.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    const std::string_view text = fathom::fuzz::text_of(data, size);
    Reading whole;
    whole.read(text, text.size() + 1);
    Reading pieces;
    pieces.read(text, 7);
    // Beast looks at the pieces when it says whether a header that ends within a few bytes of its limit is too large.
    if (whole.refused == net::http::error::header_limit || pieces.refused == net::http::error::header_limit) return 0;
    FATHOM_ASSERT(whole.parser.is_done() == pieces.parser.is_done());
    if (whole.refused) {
        const net::Refusal refusal = net::refusal_of(*whole.refused);
        FATHOM_ASSERT(refusal.status >= 400 && refusal.status <= 505);
        return 0;
    }
    if (!whole.parser.is_done()) return 0;
    const net::Request& request = whole.parser.request();
    const net::Request& again = pieces.parser.request();
    FATHOM_ASSERT(request.target == again.target && request.headers == again.headers && request.body == again.body);
    FATHOM_ASSERT(request.body.size() <= kBodyBytes && !request.target.empty());
    std::size_t header_bytes = 0;
    for (const auto& [name, value] : request.headers) {
        FATHOM_ASSERT(!name.empty() && value.find_first_of("\r\n") == std::string::npos);
        header_bytes += name.size() + value.size();
    }
    FATHOM_ASSERT(header_bytes <= 2 * kHeaderBytes);
    FATHOM_ASSERT(whole.parser.version() == 10 || request.headers.contains("Host"));
    return 0;
}
