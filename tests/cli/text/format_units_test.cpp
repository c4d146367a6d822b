#include "cli/text/format_units.hpp"

#include <gtest/gtest.h>

namespace fathom::cli {
namespace {

using namespace std::chrono_literals;

TEST(FormatUnits, DurationsKeepThreeDigits)
{
    EXPECT_EQ(format_duration(0), "0 s");
    EXPECT_EQ(format_duration(8.5e-7), "850 ns");
    EXPECT_EQ(format_duration(1.234e-5), "12.3 µs");
    EXPECT_EQ(format_duration(0.00456), "4.56 ms");
    EXPECT_EQ(format_duration(0.9996), "1.00 s");
    EXPECT_EQ(format_duration(12.34), "12.3 s");
    EXPECT_EQ(format_duration(119.9), "120 s");
    EXPECT_EQ(format_duration(252), "4 min 12 s");
    EXPECT_EQ(format_duration(3 * 3600 + 5 * 60), "3 h 05 min");
    EXPECT_EQ(format_duration(2 * 86400 + 4 * 3600), "2 d 4 h");
    EXPECT_EQ(format_duration(-0.002), "-2.00 ms");
}

TEST(FormatUnits, IntervalsNameTheUnitOnce)
{
    EXPECT_EQ(format_interval(11.8, 12.94), "11.8–12.9 s");
    EXPECT_EQ(format_interval(0.9, 1.2), "900 ms – 1.20 s");
    EXPECT_EQ(format_interval(100, 200), "100 s – 3 min 20 s");
}

TEST(FormatUnits, RatesAndSizes)
{
    EXPECT_EQ(format_flops(1.234e10), "12.3 GFLOP/s");
    EXPECT_EQ(format_flops(999.7e9), "1.00 TFLOP/s");
    EXPECT_EQ(format_bandwidth(2.5e10), "25.0 GB/s");
    EXPECT_EQ(format_bytes(512), "512 B");
    EXPECT_EQ(format_bytes(1.5 * 1024 * 1024 * 1024), "1.50 GiB");
}

TEST(FormatUnits, PlainNumbers)
{
    EXPECT_EQ(format_percent(0.0123), "1.2 %");
    EXPECT_EQ(format_error(2.13e-16), "2.1e-16");
    EXPECT_EQ(format_error(0), "0");
    EXPECT_EQ(format_count(1234), "1234");
    EXPECT_EQ(format_count(1234567), "1 234 567");
    EXPECT_EQ(format_count(-12345), "-12 345");
    EXPECT_EQ(format_number(1016.4), "1016");
    EXPECT_EQ(format_number(87.25), "87.2");
}

TEST(FormatUnits, AgesAreRelative)
{
    const Timestamp now = *parse_rfc3339("2026-11-20T11:04:14Z");
    EXPECT_EQ(format_age(now, now), "just now");
    EXPECT_EQ(format_age(now - 40s, now), "40 s ago");
    EXPECT_EQ(format_age(now - 200s, now), "3 min ago");
    EXPECT_EQ(format_age(now - 5h, now), "5 h ago");
    EXPECT_EQ(format_age(now - 80h, now), "3 d ago");
    EXPECT_EQ(format_age(now + 10min, now), "in 10 min");
    EXPECT_EQ(format_time(now), "2026-11-20 11:04:14 UTC");
}

} // namespace
} // namespace fathom::cli
