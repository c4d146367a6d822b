#include "core/decide/unit_price.hpp"

#include <algorithm>
#include <cmath>

namespace fathom {
namespace {

constexpr std::size_t kHoursOfWeek = 168;
constexpr double kHour_s = 3600;
constexpr double kWeek_s = 168 * kHour_s;
constexpr Timestamp kSomeMonday{std::chrono::sys_days{std::chrono::year{1969} / 12 / 29}};

/// Seconds since Monday 00:00 UTC.
double second_of_week(Timestamp at)
{
    constexpr Timestamp::duration kWeek = std::chrono::weeks(1);
    Timestamp::duration since = (at - kSomeMonday) % kWeek;
    if (since < Timestamp::duration::zero()) since += kWeek;
    return Seconds(since).count();
}

} // namespace

UnitPrice::UnitPrice(const PriceEntry& entry) : unit_power_w_(entry.unit_power_w)
{
    const std::array<std::int64_t, kHoursOfWeek> micros = hourly_prices(entry);
    for (std::size_t hour = 0; hour < kHoursOfWeek; ++hour) {
        per_hour_[hour] = static_cast<double>(micros[hour]) * 1e-6;
        before_[hour + 1] = before_[hour] + per_hour_[hour];
    }
    least_per_hour_ = *std::min_element(per_hour_.begin(), per_hour_.end());
    is_flat_ = std::all_of(micros.begin(), micros.end(), [&](std::int64_t one) { return one == micros.front(); });
}

double UnitPrice::cost(Timestamp start, double run_s, std::int64_t unit_count) const
{
    const auto units = static_cast<double>(unit_count);
    if (is_flat_ || !(run_s > 0)) return least_cost(run_s, unit_count);
    const auto since_monday = [this](double second) {
        const auto hour = std::min(static_cast<std::size_t>(second / kHour_s), kHoursOfWeek - 1);
        return before_[hour] + per_hour_[hour] * (second / kHour_s - static_cast<double>(hour));
    };
    const double begin_s = second_of_week(start);
    const double weeks = std::floor((begin_s + run_s) / kWeek_s);
    const double end_s = begin_s + run_s - weeks * kWeek_s;
    const double one_unit = weeks * before_[kHoursOfWeek] + since_monday(end_s) - since_monday(begin_s);
    // A difference of sums may miss the least by a rounding, and must not.
    return std::max(one_unit * units, least_cost(run_s, unit_count));
}

double UnitPrice::least_cost(double run_s, std::int64_t unit_count) const
{
    return least_per_hour_ * std::max(run_s, 0.0) / kHour_s * static_cast<double>(unit_count);
}

} // namespace fathom
