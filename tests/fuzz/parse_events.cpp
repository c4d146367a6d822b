#include "cli/client/event_stream.hpp"
#include "tests/fuzz/fuzz_input.hpp"

/// Whatever a server streams, the parser cuts it into the same events however it comes in pieces.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    const std::string_view text = fathom::fuzz::text_of(data, size);
    const auto events_of = [&](std::size_t piece) {
        std::string events;
        fathom::cli::EventParser parser;
        const auto keep = [&](const fathom::cli::ServerEvent& event) {
            events += event.id + '\n' + event.type + '\n' + event.data + '\0';
            return true;
        };
        for (std::size_t at = 0; at < text.size(); at += piece)
            FATHOM_ASSERT(parser.feed(text.substr(at, piece), keep));
        return events;
    };
    const std::string whole = events_of(text.size() + 1);
    FATHOM_ASSERT(events_of(1) == whole && events_of(3) == whole);
    FATHOM_ASSERT(whole.empty() || text.find("data") != std::string_view::npos);
    return 0;
}
