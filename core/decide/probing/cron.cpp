#include "core/decide/probing/cron.hpp"

#include "core/base/clock.hpp"
#include "core/base/parse_number.hpp"
#include "core/base/result.hpp"
#include "core/base/split_text.hpp"

#include <algorithm>
#include <array>
#include <bitset>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace fathom {
namespace {

using namespace std::chrono;

constexpr std::size_t kMaxTextLength = 200;
constexpr std::int64_t kMinPeriod_s = 10;
constexpr std::int64_t kMaxPeriod_s = 366LL * 86400;
/// The Gregorian calendar, days of the week included, repeats after so many days.
constexpr int kCalendarDays = 146'097;

constexpr std::array<std::string_view, 12> kMonthNames{"jan", "feb", "mar", "apr", "may", "jun",
                                                       "jul", "aug", "sep", "oct", "nov", "dec"};
constexpr std::array<std::string_view, 7> kDayNames{"sun", "mon", "tue", "wed", "thu", "fri", "sat"};

struct Field {
    std::string_view name;
    int min;
    int max;
};

constexpr std::array<Field, 5> kFields{
    {{"minute", 0, 59}, {"hour", 0, 23}, {"day of month", 1, 31}, {"month", 1, 12}, {"day of week", 0, 7}}};
enum FieldIndex : std::size_t { kMinute, kHour, kMonthDay, kMonth, kWeekDay };

Error wrong(const Field& field, std::string_view part, const std::string& why)
{
    return Error{Errc::kInvalid, std::string(field.name) + " \"" + std::string(part) + "\": " + why};
}

std::vector<std::string_view> words(std::string_view text)
{
    std::vector<std::string_view> found;
    for (std::size_t begin = text.find_first_not_of(" \t"); begin != std::string_view::npos;) {
        const std::size_t end = std::min(text.find_first_of(" \t", begin), text.size());
        found.push_back(text.substr(begin, end - begin));
        begin = text.find_first_not_of(" \t", end);
    }
    return found;
}

std::optional<std::int64_t> to_number(std::string_view text)
{
    const auto value = parse_number<std::int64_t>(text);
    return value && text.front() != '-' ? value : std::nullopt;
}

/// The place of a name in its list, counted from `first`.
template <std::size_t kCount>
std::optional<int> find_name(const std::array<std::string_view, kCount>& names, std::string_view text, int first)
{
    std::string lower(text);
    for (char& c : lower)
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    const auto found = std::find(names.begin(), names.end(), lower);
    if (found == names.end()) return std::nullopt;
    return first + static_cast<int>(found - names.begin());
}

Result<int> parse_value(const Field& field, std::string_view part, std::string_view text)
{
    const bool has_names = &field == &kFields[kMonth] || &field == &kFields[kWeekDay];
    const std::optional<int> named = &field == &kFields[kMonth]     ? find_name(kMonthNames, text, 1)
                                     : &field == &kFields[kWeekDay] ? find_name(kDayNames, text, 0)
                                                                    : std::nullopt;
    if (named) return *named;
    const std::optional<std::int64_t> number = text.empty() ? std::nullopt : to_number(text);
    if (number && *number >= field.min && *number <= field.max) return static_cast<int>(*number);
    return wrong(field, part,
                 "must be " + std::to_string(field.min) + " to " + std::to_string(field.max) +
                     (has_names ? ", or a name of three letters" : ""));
}

struct Range {
    int first;
    int last;
};

Result<Range> parse_range(const Field& field, std::string_view part, std::string_view text)
{
    // "*" is every day once: 7 is Sunday's second number.
    if (text == "*") return Range{field.min, &field == &kFields[kWeekDay] ? 6 : field.max};
    const std::size_t dash = text.find('-');
    const Result<int> first = parse_value(field, part, text.substr(0, dash));
    if (!first) return first.error();
    if (dash == std::string_view::npos) return Range{*first, *first};
    Result<int> last = parse_value(field, part, text.substr(dash + 1));
    if (!last) return last.error();
    if (&field == &kFields[kWeekDay] && *last == 0 && *first > 0) *last = 7; // fri-sun
    if (*last < *first) return wrong(field, part, "runs backwards");
    return Range{*first, *last};
}

/// The values of one field as a bit each.
Result<std::bitset<64>> parse_field(const Field& field, std::string_view text)
{
    std::bitset<64> values;
    for (const std::string_view part : split_text(text, ',')) {
        const std::size_t slash = part.find('/');
        const std::string_view span = part.substr(0, slash);
        const Result<Range> range = parse_range(field, part, span);
        if (!range) return range.error();
        int step = 1;
        if (slash != std::string_view::npos) {
            if (span != "*" && span.find('-') == std::string_view::npos)
                return wrong(field, part, "a step needs * or a range before it");
            const std::string_view digits = part.substr(slash + 1);
            const std::optional<std::int64_t> number = digits.empty() ? std::nullopt : to_number(digits);
            if (!number || *number < 1 || *number > field.max)
                return wrong(field, part, "the step must be 1 to " + std::to_string(field.max));
            step = static_cast<int>(*number);
        }
        for (int value = range->first; value <= range->last; value += step)
            values.set(static_cast<std::size_t>(value));
    }
    return values;
}

bool names_day(const CronSchedule& schedule, sys_days day)
{
    const year_month_day date{day};
    if (!schedule.months.test(static_cast<unsigned>(date.month()))) return false;
    const bool is_month_day = schedule.month_days.test(static_cast<unsigned>(date.day()));
    const bool is_week_day = schedule.week_days.test(weekday{day}.c_encoding());
    return schedule.is_either_day ? is_month_day || is_week_day : is_month_day && is_week_day;
}

/// The first day from `day` on that the schedule names, if there is any in all the calendar.
std::optional<sys_days> find_day(const CronSchedule& schedule, sys_days day)
{
    for (int i = 0; i <= kCalendarDays; ++i, day += days(1))
        if (names_day(schedule, day)) return day;
    return std::nullopt;
}

/// The first minute of a day, from `earliest` on, that the schedule names.
std::optional<minutes> find_minute(const CronSchedule& schedule, minutes earliest)
{
    for (minutes at = earliest; at < days(1); ++at) {
        const auto hour = static_cast<std::size_t>(at / hours(1));
        if (schedule.hours.test(hour) && schedule.minutes.test(static_cast<std::size_t>(at.count() % 60))) return at;
    }
    return std::nullopt;
}

Result<CronSchedule> parse_period(std::string_view text)
{
    const std::optional<std::int64_t> period = text.empty() ? std::nullopt : to_number(text);
    if (!period || *period < kMinPeriod_s || *period > kMaxPeriod_s)
        return Error{Errc::kInvalid, "@every \"" + std::string(text) + "\": must be " + std::to_string(kMinPeriod_s) +
                                         " to " + std::to_string(kMaxPeriod_s) + " seconds"};
    CronSchedule schedule;
    schedule.period_s = *period;
    return schedule;
}

Result<CronSchedule> parse_fields(const std::vector<std::string_view>& texts)
{
    std::array<std::bitset<64>, kFields.size()> values;
    for (std::size_t i = 0; i < kFields.size(); ++i) {
        const Result<std::bitset<64>> parsed = parse_field(kFields.at(i), texts[i]);
        if (!parsed) return parsed.error();
        values.at(i) = *parsed;
    }
    if (values[kWeekDay].test(7)) values[kWeekDay].set(0);
    CronSchedule schedule;
    schedule.minutes = std::bitset<60>(values[kMinute].to_ullong());
    schedule.hours = std::bitset<24>(values[kHour].to_ullong());
    schedule.month_days = std::bitset<32>(values[kMonthDay].to_ullong());
    schedule.months = std::bitset<13>(values[kMonth].to_ullong());
    schedule.week_days = std::bitset<7>(values[kWeekDay].to_ullong() & 0x7FU);
    schedule.is_either_day = !texts[kMonthDay].starts_with('*') && !texts[kWeekDay].starts_with('*');
    if (!find_day(schedule, sys_days{}))
        return Error{Errc::kInvalid, "no month of \"" + std::string(texts[kMonth]) + "\" has a day \"" +
                                         std::string(texts[kMonthDay]) + "\": it would never run"};
    return schedule;
}

} // namespace

Result<CronSchedule> parse_cron(std::string_view text)
{
    if (text.size() > kMaxTextLength)
        return Error{Errc::kInvalid, "is longer than " + std::to_string(kMaxTextLength) + " characters"};
    const std::vector<std::string_view> parts = words(text);
    if (parts.empty()) return Error{Errc::kInvalid, "is empty"};
    if (parts[0] == "@every" && parts.size() <= 2) return parse_period(parts.size() == 2 ? parts[1] : "");
    if (parts.size() == 1 && parts[0] == "@hourly") return parse_cron("0 * * * *");
    if (parts.size() == 1 && parts[0] == "@daily") return parse_cron("0 0 * * *");
    if (parts.size() == 1 && parts[0] == "@weekly") return parse_cron("0 0 * * 0");
    if (parts[0].starts_with('@'))
        return Error{Errc::kInvalid,
                     "\"" + std::string(text) + "\": must be @hourly, @daily, @weekly, @every SECONDS or five fields"};
    if (parts.size() != kFields.size())
        return Error{Errc::kInvalid, "has " + std::to_string(parts.size()) +
                                         " fields; five are needed: minute, hour, day of month, month, day of week"};
    return parse_fields(parts);
}

Timestamp next_time(const CronSchedule& schedule, Timestamp after)
{
    if (schedule.period_s > 0) {
        const seconds period(schedule.period_s);
        return Timestamp(period * (floor<seconds>(after.time_since_epoch()) / period + 1));
    }
    const sys_time<minutes> earliest = floor<minutes>(after) + minutes(1);
    sys_days day = floor<days>(earliest);
    if (names_day(schedule, day)) {
        if (const auto minute = find_minute(schedule, earliest - day)) return day + *minute;
    }
    // parse_cron() has seen that there is such a day, and every field names at least one value.
    day = find_day(schedule, day + days(1)).value();
    return day + find_minute(schedule, minutes(0)).value();
}

} // namespace fathom
