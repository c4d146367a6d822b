#include "core/decide/billing/export_calendar.hpp"

#include <gtest/gtest.h>

namespace fathom {
namespace {

using namespace std::chrono_literals;

Timestamp at(const char* text)
{
    return parse_rfc3339(text).value();
}

CronSchedule cron(const char* text)
{
    return parse_cron(text).value();
}

TEST(ExportCalendar, ARunWritesTheMonthThatItsMomentSays)
{
    EXPECT_EQ(export_period(ExportMonths::kPrevious, at("2026-11-03T05:00:00Z")), "2026-10");
    EXPECT_EQ(export_period(ExportMonths::kPrevious, at("2027-01-01T00:00:00Z")), "2026-12");
    EXPECT_EQ(export_period(ExportMonths::kCurrent, at("2026-11-30T23:59:59Z")), "2026-11");
    EXPECT_EQ(export_period(ExportMonths::kAll, at("2026-11-30T23:59:59Z")), "");
}

TEST(ExportCalendar, TheNextRunIsTheClocksNext)
{
    EXPECT_EQ(
        next_export(cron("0 5 3 * *"), ExportMonths::kPrevious, at("2026-11-03T05:00:00Z"), at("2026-11-03T05:00:04Z")),
        at("2026-12-03T05:00:00Z"));
    EXPECT_EQ(
        next_export(cron("@daily"), ExportMonths::kCurrent, at("2026-11-03T00:00:00Z"), at("2026-11-03T00:00:09Z")),
        at("2026-11-04T00:00:00Z"));
}

TEST(ExportCalendar, AServerThatWasAwayMakesUpForEachMonthOnce)
{
    // From August until mid November nobody was there.
    const CronSchedule nightly = cron("0 4 * * *");
    const Timestamp now = at("2026-11-15T12:00:00Z");
    Timestamp due = at("2026-08-20T04:00:00Z");
    std::vector<std::string> periods;
    for (; due <= now; due = next_export(nightly, ExportMonths::kPrevious, due, now))
        periods.push_back(export_period(ExportMonths::kPrevious, due));

    EXPECT_EQ(periods, (std::vector<std::string>{"2026-07", "2026-08", "2026-09", "2026-10"}));
    EXPECT_EQ(due, at("2026-11-16T04:00:00Z"));
}

TEST(ExportCalendar, WhatIsWrittenWholeIsWrittenOnceForAllThatWasMissed)
{
    const Timestamp now = at("2026-11-15T12:00:00Z");
    EXPECT_EQ(next_export(cron("@every 60"), ExportMonths::kAll, at("2026-08-20T04:00:00Z"), now),
              at("2026-11-15T12:01:00Z"));
}

TEST(ExportCalendar, AClockThatIsSetBackRepeatsNothing)
{
    EXPECT_EQ(
        next_export(cron("@daily"), ExportMonths::kCurrent, at("2026-11-05T00:00:00Z"), at("2026-11-02T12:00:00Z")),
        at("2026-11-06T00:00:00Z"));
}

TEST(ExportCalendar, RetriesComeLaterAndLater)
{
    const Timestamp now = at("2026-11-15T12:00:00Z");
    EXPECT_EQ(export_retry(1, now), now + 5min);
    EXPECT_EQ(export_retry(2, now), now + 10min);
    EXPECT_EQ(export_retry(4, now), now + 40min);
    EXPECT_EQ(export_retry(5, now), now + 60min);
    EXPECT_EQ(export_retry(1'000'000, now), now + 60min);
}

} // namespace
} // namespace fathom
