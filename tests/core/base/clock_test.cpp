#include "core/base/clock.hpp"

#include <gtest/gtest.h>

namespace fathom {
namespace {

TEST(Rfc3339, SurvivesTheWayThroughText)
{
    const Timestamp time = parse_rfc3339("2026-12-01T18:00:00.123456Z").value();

    EXPECT_EQ(format_rfc3339(time), "2026-12-01T18:00:00.123456Z");
    EXPECT_EQ(parse_rfc3339("2026-12-01T20:30:00.123456+02:30").value(), time);
    EXPECT_EQ(format_rfc3339(parse_rfc3339("2024-02-29T00:00:00Z").value()), "2024-02-29T00:00:00.000000Z");
}

TEST(Rfc3339, RefusesWhatIsNoTime)
{
    for (const char* text : {"", "2026-12-01", "2026-13-01T00:00:00Z", "2026-02-29T00:00:00Z", "2026-12-01T24:00:00Z",
                             "2026-12-01T00:00:00", "2026-12-01T00:00:00Zx", "2026-12-01T00:00:00.Z", "tomorrow"})
        EXPECT_FALSE(parse_rfc3339(text)) << text;
}

TEST(Rfc3339, WhatIsReadCanBeWrittenAndReadAgain)
{
    for (const char* text : {"0001-01-01T00:00:00Z", "9999-12-31T23:59:59.999999Z", "9999-12-31T23:59:59+00:01"}) {
        const Timestamp time = parse_rfc3339(text).value();
        EXPECT_EQ(parse_rfc3339(format_rfc3339(time)).value(), time) << text;
    }
    for (const char* text : {"9999-12-31T23:59:59-23:59", "0000-12-31T23:59:59Z", "0001-01-01T00:00:00+00:01"})
        EXPECT_FALSE(parse_rfc3339(text)) << text;
}

} // namespace
} // namespace fathom
