#include "core/decide/capacity/unit_price.hpp"

#include "core/base/clock.hpp"
#include "core/model/price_book.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>

namespace fathom {
namespace {

constexpr std::size_t kPricedHours = 168;
constexpr double kHour_s = 3600;
/// More points than any unit has, and few enough that the price of an hour stays within its range.
constexpr double kMaxScore = 1e6;
constexpr double kWeek_s = 168 * kHour_s;
/// Longer runs cost as much as this one: beyond it no second of the week is left of a sum.
constexpr double kMaxRun_s = 1e12;
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

UnitPrice::UnitPrice(const PriceEntry& entry, double score) : unit_power_w_(entry.unit_power_w)
{
    constexpr double kPointsOfScoreHour = 1000;
    HourlyPrices micros = hourly_prices(entry);
    const HourlyPrices of_score = hourly_score_prices(entry);
    for (std::size_t hour = 0; hour < kPricedHours; ++hour)
        micros[hour] +=
            std::llround(static_cast<double>(of_score[hour]) * std::clamp(score, 0.0, kMaxScore) / kPointsOfScoreHour);
    for (std::size_t hour = 0; hour < kPricedHours; ++hour) {
        per_hour_[hour] = static_cast<double>(micros[hour]) * 1e-6;
        before_[hour + 1] = before_[hour] + per_hour_[hour];
    }
    least_per_hour_ = *std::min_element(per_hour_.begin(), per_hour_.end());
    most_per_hour_ = *std::max_element(per_hour_.begin(), per_hour_.end());
    // A run of whole hours is cheapest where it begins with an hour.
    for (std::size_t i = 0; i < kLengths.size(); ++i) {
        least_of_length_[i] = cost_from(0, static_cast<double>(kLengths[i]) * kHour_s);
        for (std::size_t hour = 1; hour < kPricedHours; ++hour)
            least_of_length_[i] = std::min(least_of_length_[i], cost_from(static_cast<double>(hour) * kHour_s,
                                                                          static_cast<double>(kLengths[i]) * kHour_s));
    }
    is_flat_ = std::all_of(micros.begin(), micros.end(), [&](std::int64_t one) { return one == micros.front(); });
}

double UnitPrice::cost_from(double second_of_week, double run_s) const
{
    const auto since_monday = [this](double second) {
        const double hours = std::clamp(second, 0.0, kWeek_s) / kHour_s; // may miss the week by a rounding
        const auto hour = std::min(static_cast<std::size_t>(hours), kPricedHours - 1);
        return before_[hour] + per_hour_[hour] * (hours - static_cast<double>(hour));
    };
    const double until_s = second_of_week + std::min(run_s, kMaxRun_s);
    const double weeks = std::floor(until_s / kWeek_s);
    const double end_s = until_s - weeks * kWeek_s;
    return weeks * before_[kPricedHours] + since_monday(end_s) - since_monday(second_of_week);
}

double UnitPrice::least_mean_per_s(Timestamp at) const
{
    if (is_flat_) return least_per_hour_ / kHour_s;
    // The rest of the hour costs its price, and whole hours follow. While one hour goes by, the mean moves one way.
    const auto hour_of_week = static_cast<std::size_t>(second_of_week(at) / kHour_s) % kPricedHours;
    const std::size_t next = (hour_of_week + 1) % kPricedHours;
    double least = per_hour_[hour_of_week];
    std::size_t before = 0; // hours that cost `before_cost`
    double before_cost = 0;
    for (const std::size_t length : kLengths) {
        const std::size_t end = next + length;
        const double cost = before_[std::min(end, kPricedHours)] - before_[next] +
                            (end > kPricedHours ? before_[end - kPricedHours] : 0);
        const auto hours = static_cast<double>(length);
        least = std::min(least, cost / hours);
        // Hours between that are left out cost the least of all: then too the mean is least at one of the two ends.
        const auto left_out = static_cast<double>(length - before);
        if (left_out > 1) least = std::min(least, (before_cost + least_per_hour_ * left_out) / hours);
        before = length;
        before_cost = cost;
    }
    // And weeks later once more.
    const double week = before_[kPricedHours];
    least = std::min(least, (week + least_per_hour_ * static_cast<double>(kPricedHours)) / (2 * kPricedHours));
    constexpr double kRounding = 1e-9;
    return least / kHour_s * (1 - kRounding);
}

double UnitPrice::cost(Timestamp start, double run_s, std::int64_t unit_count) const
{
    return cost_after(start, 0, run_s, unit_count);
}

double UnitPrice::cost_after(Timestamp from, double delay_s, double run_s, std::int64_t unit_count) const
{
    if (is_flat_ || !(run_s > 0)) return least_cost(run_s, unit_count);
    double second = second_of_week(from);
    if (delay_s > 0) second = std::fmod(second + delay_s, kWeek_s);
    // A difference of sums may miss the least by a rounding, and must not.
    return std::max(cost_from(second, run_s) * static_cast<double>(unit_count), least_cost(run_s, unit_count));
}

double UnitPrice::least_cost_between(Timestamp earliest, Timestamp latest, double run_s, std::int64_t unit_count) const
{
    const double length_s = Seconds(latest - earliest).count();
    if (is_flat_ || !(run_s > 0) || !(length_s < kWeek_s)) return least_cost(run_s, unit_count);
    // The cost changes evenly between starts at which the run begins or ends with an hour: the least is at one of
    // these, or at an end of the range.
    const double from_s = second_of_week(earliest);
    const double to_s = from_s + std::max(length_s, 0.0);
    const auto cost_at = [&](double second) { return cost_from(second < kWeek_s ? second : second - kWeek_s, run_s); };
    double least = std::min(cost_at(from_s), cost_at(to_s));
    const double ends_off_s = std::fmod(std::min(run_s, kMaxRun_s), kHour_s);
    for (double hour_s = std::ceil(from_s / kHour_s) * kHour_s; hour_s <= to_s + kHour_s; hour_s += kHour_s) {
        if (hour_s <= to_s) least = std::min(least, cost_at(hour_s));
        const double ending_s = hour_s - ends_off_s;
        if (ending_s >= from_s && ending_s <= to_s) least = std::min(least, cost_at(ending_s));
    }
    constexpr double kRounding = 1e-9;
    return least * static_cast<double>(unit_count) * (1 - kRounding);
}

double UnitPrice::least_cost(double run_s, std::int64_t unit_count) const
{
    const double hours = std::clamp(run_s, 0.0, kMaxRun_s) / kHour_s;
    double least = least_per_hour_ * hours;
    if (!is_flat_) {
        // Its first whole hours cost at least what the cheapest of so many do, the rest at least the cheapest hour.
        for (std::size_t i = 0; i < kLengths.size() && static_cast<double>(kLengths[i]) <= hours; ++i)
            least = least_of_length_[i] + least_per_hour_ * (hours - static_cast<double>(kLengths[i]));
        constexpr double kRounding = 1e-9;
        least *= 1 - kRounding;
    }
    return least * static_cast<double>(unit_count);
}

} // namespace fathom
