#include "cli/client/event_stream.hpp"

#include <gtest/gtest.h>

namespace fathom::cli {
namespace {

constexpr std::string_view kStream =
    ": hello\n\nid: 7\nevent: job\ndata: {\"a\":1}\n\nid: 8\r\ndata: x\r\ndata: y\r\n\r\n";

std::vector<ServerEvent> parse_in_pieces(std::string_view text, std::size_t piece)
{
    EventParser parser;
    std::vector<ServerEvent> events;
    for (std::size_t at = 0; at < text.size(); at += piece) {
        parser.feed(text.substr(at, piece), [&](const ServerEvent& event) {
            events.push_back(event);
            return true;
        });
    }
    return events;
}

TEST(EventParser, FindsTheSameEventsHoweverTheStreamIsCut)
{
    for (std::size_t piece = 1; piece <= kStream.size(); ++piece) {
        const std::vector<ServerEvent> events = parse_in_pieces(kStream, piece);

        ASSERT_EQ(events.size(), 2U) << "pieces of " << piece;
        EXPECT_EQ(events[0].id, "7");
        EXPECT_EQ(events[0].type, "job");
        EXPECT_EQ(events[0].data, "{\"a\":1}");
        EXPECT_EQ(events[1].id, "8");
        EXPECT_EQ(events[1].type, "message");
        EXPECT_EQ(events[1].data, "x\ny");
    }
}

TEST(EventParser, StopsWhenToldTo)
{
    EventParser parser;
    int seen = 0;
    const bool goes_on = parser.feed(kStream, [&](const ServerEvent&) { return ++seen < 1; });

    EXPECT_FALSE(goes_on);
    EXPECT_EQ(seen, 1);
}

} // namespace
} // namespace fathom::cli
