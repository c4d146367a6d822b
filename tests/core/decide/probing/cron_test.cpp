#include "core/decide/probing/cron.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <string>
#include <vector>

namespace fathom {
namespace {

using namespace std::chrono;

Timestamp at(const std::string& text)
{
    return parse_rfc3339(text).value();
}

std::string next(const std::string& cron, const std::string& after)
{
    return format_rfc3339(next_time(parse_cron(cron).value(), at(after))).substr(0, 16);
}

TEST(Cron, NamesTheNextMoment)
{
    EXPECT_EQ(next("*/15 * * * *", "2026-11-21T13:00:00Z"), "2026-11-21T13:15");
    EXPECT_EQ(next("*/15 * * * *", "2026-11-21T13:14:59.999999Z"), "2026-11-21T13:15");
    EXPECT_EQ(next("30 2 * * *", "2026-12-31T02:30:00Z"), "2027-01-01T02:30") << "after means after";
    EXPECT_EQ(next("0 8-18/5 * * *", "2026-11-21T09:00:00Z"), "2026-11-21T13:00");
    EXPECT_EQ(next("5,10 3 1 jan,JUL *", "2026-11-21T00:00:00Z"), "2027-01-01T03:05");
    EXPECT_EQ(next("  0 0\t* * mon-fri ", "2026-11-20T12:00:00Z"), "2026-11-23T00:00") << "the 20th is a Friday";
    EXPECT_EQ(next("0 0 * * fri-sun", "2026-11-21T12:00:00Z"), "2026-11-22T00:00");
    EXPECT_EQ(next("0 0 * * 7", "2026-11-21T12:00:00Z"), "2026-11-22T00:00");
}

TEST(Cron, NamesWithAnAtSign)
{
    EXPECT_EQ(next("@hourly", "2026-11-21T13:07:00Z"), "2026-11-21T14:00");
    EXPECT_EQ(next("@daily", "2026-11-21T13:07:00Z"), "2026-11-22T00:00");
    EXPECT_EQ(next("@weekly", "2026-11-21T13:07:00Z"), "2026-11-22T00:00");
    const CronSchedule period = parse_cron("@every 90").value();
    EXPECT_EQ(next_time(period, at("1970-01-01T00:03:00Z")), at("1970-01-01T00:04:30Z"));
    EXPECT_EQ(next_time(period, at("1970-01-01T00:04:29.5Z")), at("1970-01-01T00:04:30Z"));
}

TEST(Cron, ADayThatEitherFieldNamesIsMeant)
{
    // The 1st, and every Monday.
    EXPECT_EQ(next("0 0 1 * mon", "2026-11-21T00:00:00Z"), "2026-11-23T00:00");
    EXPECT_EQ(next("0 0 1 * mon", "2026-11-30T00:00:00Z"), "2026-12-01T00:00");
    // A field that begins with a star only narrows: Mondays with an odd number.
    EXPECT_EQ(next("0 0 */2 * mon", "2026-11-21T00:00:00Z"), "2026-11-23T00:00");
    EXPECT_EQ(next("0 0 */2 * mon", "2026-11-23T00:00:00Z"), "2026-12-07T00:00");
}

TEST(Cron, LeapDaysAreFoundAlsoAcrossACentury)
{
    EXPECT_EQ(next("0 0 29 feb *", "2026-11-21T00:00:00Z"), "2028-02-29T00:00");
    EXPECT_EQ(next("0 0 29 2 *", "2096-02-29T00:00:00Z"), "2104-02-29T00:00") << "2100 is no leap year";
    EXPECT_EQ(next("59 23 31 12 *", "2026-12-31T23:59:00Z"), "2027-12-31T23:59");
}

TEST(Cron, ErrorsNameTheFieldAndTheValue)
{
    const std::vector<std::pair<std::string, std::string>> wrong{
        {"60 * * * *", "minute \"60\": must be 0 to 59"},
        {"* 24 * * *", "hour \"24\": must be 0 to 23"},
        {"* * 0 * *", "day of month \"0\": must be 1 to 31"},
        {"* * * 13 *", "month \"13\": must be 1 to 12, or a name of three letters"},
        {"* * * * 8", "day of week \"8\": must be 0 to 7, or a name of three letters"},
        {"* * * monday *", "month \"monday\": must be 1 to 12, or a name of three letters"},
        {"1, * * * *", "minute \"\": must be 0 to 59"},
        {"-1 * * * *", "minute \"-1\": must be 0 to 59"},
        {"1.5 * * * *", "minute \"1.5\": must be 0 to 59"},
        {"99999999999999999999 * * * *", "minute \"99999999999999999999\": must be 0 to 59"},
        {"30-10 * * * *", "minute \"30-10\": runs backwards"},
        {"5/10 * * * *", "minute \"5/10\": a step needs * or a range before it"},
        {"*/0 * * * *", "minute \"*/0\": the step must be 1 to 59"},
        {"*/ * * * *", "minute \"*/\": the step must be 1 to 59"},
        {"0 0 30 2 *", "no month of \"2\" has a day \"30\": it would never run"},
        {"0 0 31 4,6,nov *", "no month of \"4,6,nov\" has a day \"31\": it would never run"},
        {"", "is empty"},
        {"* * * *", "has 4 fields; five are needed: minute, hour, day of month, month, day of week"},
        {"@every 9", "@every \"9\": must be 10 to 31622400 seconds"},
        {"@every", "@every \"\": must be 10 to 31622400 seconds"},
        {"@yearly", "\"@yearly\": must be @hourly, @daily, @weekly, @every SECONDS or five fields"}};
    for (const auto& [text, detail] : wrong) {
        const Result<CronSchedule> parsed = parse_cron(text);
        ASSERT_FALSE(parsed) << text;
        EXPECT_EQ(parsed.error().detail, detail);
        EXPECT_EQ(parsed.error().code, Errc::kInvalid);
    }
    EXPECT_FALSE(parse_cron(std::string(201, ' ')));
    EXPECT_TRUE(parse_cron("0 0 30 2 mon")) << "every Monday of February";
}

/// The rule said again, slowly, to compare with.
bool is_named(const CronSchedule& schedule, Timestamp time)
{
    const auto day = floor<days>(time);
    const year_month_day date{day};
    const auto minute = floor<minutes>(time - day);
    const bool month_day = schedule.month_days[static_cast<unsigned>(date.day())];
    const bool week_day = schedule.week_days[weekday{day}.c_encoding()];
    return time - day == minute && schedule.months[static_cast<unsigned>(date.month())] &&
           schedule.hours[static_cast<std::size_t>(minute.count() / 60)] &&
           schedule.minutes[static_cast<std::size_t>(minute.count() % 60)] &&
           (schedule.is_either_day ? month_day || week_day : month_day && week_day);
}

std::string arbitrary_field(int min, int max)
{
    const int first = *rc::gen::inRange(min, max + 1);
    const int last = *rc::gen::inRange(first, max + 1);
    const std::string step = std::to_string(*rc::gen::inRange(1, max + 1));
    switch (*rc::gen::inRange(0, 5)) {
    case 0:
        return "*";
    case 1:
        return "*/" + step;
    case 2:
        return std::to_string(first) + "-" + std::to_string(last);
    case 3:
        return std::to_string(first) + "-" + std::to_string(last) + "/" + step;
    default:
        return std::to_string(first) + "," + std::to_string(last);
    }
}

RC_GTEST_PROP(CronProperty, TheNextMomentIsTheFirstThatMatches, ())
{
    const std::string text = arbitrary_field(0, 59) + " " + arbitrary_field(0, 23) + " " + arbitrary_field(1, 31) +
                             " " + arbitrary_field(1, 12) + " " + arbitrary_field(0, 7);
    const Result<CronSchedule> schedule = parse_cron(text);
    RC_PRE(schedule.has_value());
    const Timestamp after(microseconds(*rc::gen::inRange<std::int64_t>(0, 4'102'444'800'000'000)));
    const Timestamp found = next_time(*schedule, after);
    RC_ASSERT(found > after);
    RC_ASSERT(is_named(*schedule, found));
    // None between, as far as one looks in good time.
    Timestamp between = floor<minutes>(after) + minutes(1);
    for (int i = 0; i < 3000 && between < found; ++i, between += minutes(1))
        RC_ASSERT(!is_named(*schedule, between));
}

} // namespace
} // namespace fathom
