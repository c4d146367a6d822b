#include "core/net/message_parser.hpp"
#include "tests/fuzz/fuzz_input.hpp"

/// Whatever a server answers, the client reads it or refuses it, and keeps no more of it than it was told.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    constexpr std::size_t kBodyBytes = 512;
    std::size_t streamed = 0;
    const fathom::net::ResponseParser::OnData on_data = [&](std::string_view piece) {
        streamed += piece.size();
        return streamed < 100;
    };
    for (const fathom::net::ResponseParser::OnData* sink : {&on_data, static_cast<decltype(&on_data)>(nullptr)}) {
        fathom::net::ResponseParser parser(kBodyBytes, sink);
        parser.eager(true);
        fathom::net::ErrorCode ec;
        std::string_view rest = fathom::fuzz::text_of(data, size);
        while (!rest.empty() && !parser.is_done() && !ec)
            rest.remove_prefix(parser.put(boost::asio::buffer(rest), ec));
        const fathom::net::ClientResponse& response = parser.response();
        FATHOM_ASSERT(response.body.size() <= kBodyBytes && streamed <= size);
        FATHOM_ASSERT(!parser.is_done() || (response.status >= 0 && response.status <= 999));
    }
    return 0;
}
