#pragma once

#include "core/base/clock.hpp"

#include <bitset>
#include <cstdint>
#include <string_view>

namespace fathom {

/// When something repeats (M21), in UTC. Either a set of minutes, as cron(8) has them, or a period.
struct CronSchedule {
    std::bitset<60> minutes;
    std::bitset<24> hours;
    std::bitset<32> month_days; ///< 1…31
    std::bitset<13> months;     ///< 1…12
    std::bitset<7> week_days;   ///< 0: Sunday
    /// Both day fields name days: a day that either of them names is meant, not only one that both name. That is
    /// so when neither field begins with `*`.
    bool is_either_day{false};
    /// Not 0: every so many seconds, at the multiples of it since 1970, and the fields above say nothing.
    std::int64_t period_s{0};
};

/// Reads `minute hour day-of-month month day-of-week`, each `*`, a value, a range `a-b`, either of the last two
/// with a step (`*/15`, `8-18/2`), or a list of these joined by commas; months and days of the week also by the first
/// three letters of their English names; Sunday is 0 or 7. Also `@hourly`, `@daily`, `@weekly`, and `@every N` with N
/// seconds, 10…31622400.
/// @error kInvalid  names the field and what is wrong with it, or says that no day ever matches (30 February).
Result<CronSchedule> parse_cron(std::string_view text);

/// The first moment after `after` that the schedule names. At most 400 years away, after which the calendar
/// repeats.
/// @param schedule  from parse_cron().
Timestamp next_time(const CronSchedule& schedule, Timestamp after);

} // namespace fathom
