#include "core/decide/billing/export_calendar.hpp"

#include "core/base/clock.hpp"
#include "core/decide/probing/cron.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace fathom {
namespace {

std::chrono::year_month month_of(Timestamp time)
{
    const std::chrono::year_month_day day(std::chrono::floor<std::chrono::days>(time));
    return day.year() / day.month();
}

Timestamp start_of(std::chrono::year_month month)
{
    return std::chrono::sys_days(month / 1);
}

} // namespace

std::optional<ExportMonths> parse_export_months(std::string_view text)
{
    if (text == "previous") return ExportMonths::kPrevious;
    if (text == "current") return ExportMonths::kCurrent;
    if (text == "all") return ExportMonths::kAll;
    return std::nullopt;
}

std::string export_period(ExportMonths months, Timestamp due)
{
    if (months == ExportMonths::kAll) return {};
    const std::chrono::year_month month =
        month_of(due) - std::chrono::months(months == ExportMonths::kPrevious ? 1 : 0);
    return fmt::format("{:04}-{:02}", static_cast<int>(month.year()), static_cast<unsigned>(month.month()));
}

Timestamp next_export(const CronSchedule& schedule, ExportMonths months, Timestamp due, Timestamp now)
{
    const Timestamp last_of_month = start_of(month_of(due) + std::chrono::months(1)) - Timestamp::duration(1);
    const Timestamp done = months == ExportMonths::kAll ? now : std::min(now, last_of_month);
    return next_time(schedule, std::max(due, done));
}

Timestamp export_retry(std::int64_t failures, Timestamp now)
{
    constexpr std::int64_t kMaxDoublings = 4;
    constexpr auto kFirst = std::chrono::minutes(5);
    const std::int64_t doublings = std::clamp<std::int64_t>(failures - 1, 0, kMaxDoublings);
    return now + std::min<std::chrono::minutes>(kFirst * (std::int64_t{1} << doublings), std::chrono::hours(1));
}

} // namespace fathom
