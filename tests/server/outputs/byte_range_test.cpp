#include "server/outputs/byte_range.hpp"

#include <gtest/gtest.h>

namespace fathom::server {
namespace {

using Kind = AskedRange::Kind;

void expect_part(std::string_view header, std::int64_t first, std::int64_t size)
{
    const AskedRange asked = parse_byte_range(header, 1000);
    EXPECT_EQ(asked.kind, Kind::kPart) << header;
    EXPECT_EQ(asked.part.first, first) << header;
    EXPECT_EQ(asked.part.size, size) << header;
}

TEST(ByteRanges, AreThoseOfRfc9110)
{
    expect_part("bytes=0-", 0, 1000);
    expect_part("bytes=300-", 300, 700);
    expect_part("bytes=300-399", 300, 100);
    expect_part("bytes=999-999", 999, 1);
    expect_part("bytes=900-5000", 900, 100);
    expect_part("bytes=-100", 900, 100);
    expect_part("bytes=-5000", 0, 1000);
}

TEST(ByteRanges, ThatBeginBehindTheEndHoldNothing)
{
    for (const char* const header : {"bytes=1000-", "bytes=1000-2000", "bytes=9223372036854775807-", "bytes=-0"})
        EXPECT_EQ(parse_byte_range(header, 1000).kind, Kind::kNone) << header;
    EXPECT_EQ(parse_byte_range("bytes=0-", 0).kind, Kind::kNone);
    EXPECT_EQ(parse_byte_range("bytes=-5", 0).kind, Kind::kNone);
}

TEST(ByteRanges, ThatMakeNoSenseAreIgnored)
{
    for (const char* const header :
         {"", "bytes", "bytes=", "bytes=-", "bytes=5", "bytes=9-5", "bytes=a-", "bytes=1-b", "bytes=+1-2", "bytes=--5",
          "bytes= 1-2", "lines=1-2", "bytes=0-1,5-6", "bytes=99999999999999999999-", "bytes=0-99999999999999999999"})
        EXPECT_EQ(parse_byte_range(header, 1000).kind, Kind::kAll) << header;
}

} // namespace
} // namespace fathom::server
