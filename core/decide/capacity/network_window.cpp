#include "core/decide/capacity/network_window.hpp"

#include "core/base/clock.hpp"
#include "core/base/json_reader.hpp"
#include "core/base/portable_math.hpp"
#include "core/decide/statistics/sample_statistics.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <numbers>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace fathom {
namespace {

constexpr std::int64_t kEnoughOfHour = 2;
constexpr std::size_t kMaxSamples = 2000;
constexpr std::size_t kMinStretchHours = 3;
constexpr int kHoursOfWeek = 168;
constexpr int kStartsPerHour = 4;
/// After so many weeks a transfer goes on at the overall rate for ever.
constexpr int kWeeksOfTransfer = 2;
constexpr int kHoursOfDay = 24;
/// What share of the best hour's rate makes an hour a good one.
constexpr double kGoodShare = 0.8;

/// No noise is too small to be believed: clocks and schedulers alone give a per cent.
constexpr double kMinNoise = 0.01;

HourOfWeek summarize_hour(std::vector<double> rates)
{
    if (rates.empty()) return {};
    std::sort(rates.begin(), rates.end());
    const double middle = quantile(rates, 0.5);
    return {static_cast<std::int64_t>(rates.size()), middle, (quantile(rates, 0.75) - quantile(rates, 0.25)) / middle};
}

constexpr Timestamp kFirstMonday{std::chrono::sys_days{std::chrono::year{1969} / 12 / 29}};

/// The number of the part of the time line that `at` lies in, when it is cut into parts of this length.
std::int64_t part_of(Timestamp at, Timestamp::duration part)
{
    const Timestamp::duration since = at - kFirstMonday;
    return since / part - (since % part < Timestamp::duration::zero() ? 1 : 0);
}

Timestamp next_part(Timestamp at, Timestamp::duration part)
{
    return kFirstMonday + (part_of(at, part) + 1) * part;
}

/// Standard deviation of the noise, from the differences of neighbours: steps are few, so the median of the
/// differences does not see them. 0.6745 is the upper quartile of the normal distribution.
double noise_of(const std::vector<double>& values)
{
    std::vector<double> differences;
    for (std::size_t i = 1; i < values.size(); ++i)
        differences.push_back(std::abs(values[i] - values[i - 1]));
    return std::max(kMinNoise, median(std::move(differences)) / (0.6745 * std::numbers::sqrt2));
}

/// Sums, so that the squared deviation of any stretch costs nothing.
class Deviations {
  public:
    explicit Deviations(const std::vector<double>& values)
    {
        for (const double value : values) {
            sums_.push_back(sums_.back() + value);
            squares_.push_back(squares_.back() + value * value);
        }
    }

    double mean(std::size_t begin, std::size_t end) const
    {
        return (sums_[end] - sums_[begin]) / static_cast<double>(end - begin);
    }

    double squared(std::size_t begin, std::size_t end) const
    {
        const double sum = sums_[end] - sums_[begin];
        return squares_[end] - squares_[begin] - sum * sum / static_cast<double>(end - begin);
    }

  private:
    std::vector<double> sums_{0.0};
    std::vector<double> squares_{0.0};
};

/// Where stretches begin, the first one left out.
std::vector<std::size_t> partition(const std::vector<double>& values)
{
    const Deviations deviations(values);
    const double noise = noise_of(values);
    // Schwarz's criterion for a mean and a place, and as much again: a step that is reported must be there.
    const double price = 4 * noise * noise * portable::log(static_cast<double>(values.size()));
    std::vector<double> best(values.size() + 1, HUGE_VAL);
    std::vector<std::size_t> begin(values.size() + 1, 0);
    best[0] = -price;
    for (std::size_t end = kMinStretchHours; end <= values.size(); ++end) {
        for (std::size_t start = 0; start + kMinStretchHours <= end; ++start) {
            const double cost = best[start] + price + deviations.squared(start, end);
            if (cost >= best[end]) continue;
            best[end] = cost;
            begin[end] = start;
        }
    }
    std::vector<std::size_t> starts;
    for (std::size_t end = values.size(); begin[end] > 0; end = begin[end])
        starts.insert(starts.begin(), begin[end]);
    return starts;
}

} // namespace

std::string_view to_string(WindowBasis basis)
{
    switch (basis) {
    case WindowBasis::kHourOfWeek:
        return "hour_of_week";
    case WindowBasis::kHourOfDay:
        return "hour_of_day";
    case WindowBasis::kOverall:
        return "overall";
    case WindowBasis::kUnknown:
        return "unknown";
    }
    return "unknown";
}

int hour_of_week(Timestamp at, NetworkCalendar calendar)
{
    const std::int64_t hour = part_of(at, calendar.hour) % kHoursOfWeek;
    return static_cast<int>(hour < 0 ? hour + kHoursOfWeek : hour);
}

NetworkProfile::NetworkProfile(std::span<const NetworkSample> samples, NetworkCalendar calendar) : calendar_(calendar)
{
    std::array<std::vector<double>, 168> by_week;
    std::array<std::vector<double>, 24> by_day;
    std::vector<double> all;
    for (const NetworkSample& sample : samples) {
        if (!(sample.rate_bytes > 0) || !std::isfinite(sample.rate_bytes)) continue;
        const auto hour = static_cast<std::size_t>(hour_of_week(sample.at, calendar_));
        by_week[hour].push_back(sample.rate_bytes);
        by_day[hour % 24].push_back(sample.rate_bytes);
        all.push_back(sample.rate_bytes);
    }
    for (std::size_t hour = 0; hour < by_week.size(); ++hour)
        week_[hour] = summarize_hour(std::move(by_week[hour]));
    for (std::size_t hour = 0; hour < by_day.size(); ++hour)
        day_[hour] = summarize_hour(std::move(by_day[hour]));
    overall_ = summarize_hour(std::move(all));
    find_extreme_rates();
}

NetworkProfile NetworkProfile::from(const Known& known)
{
    NetworkProfile profile(std::span<const NetworkSample>(), known.calendar);
    profile.week_ = known.hours;
    profile.day_ = known.days;
    profile.overall_ = known.overall;
    profile.find_extreme_rates();
    return profile;
}

void NetworkProfile::find_extreme_rates()
{
    best_rate_bytes_ = overall_.count > 0 ? overall_.median_bytes : 0;
    for (std::size_t hour = 0; hour < week_.size(); ++hour) {
        const auto known = [](const HourOfWeek& one, std::int64_t least) {
            return one.count >= least ? one.median_bytes : 0;
        };
        best_rate_bytes_ = std::max({best_rate_bytes_, known(week_[hour], kEnoughOfHour), known(day_[hour % 24], 1)});
    }
    least_rate_bytes_ = overall_.count > 0 ? overall_.median_bytes : 0; // what goes on for weeks ends at this rate
    for (std::size_t hour = 0; hour < week_.size(); ++hour)
        least_rate_bytes_ = std::min(least_rate_bytes_, of_hour(hour).rate_bytes);
}

RateAtTime NetworkProfile::at(Timestamp at) const
{
    return of_hour(static_cast<std::size_t>(hour_of_week(at, calendar_)));
}

RateAtTime NetworkProfile::of_hour(std::size_t hour) const
{
    const auto made_of = [](const HourOfWeek& known, WindowBasis basis) {
        return RateAtTime{known.median_bytes, known.spread, basis};
    };
    if (week_[hour].count >= kEnoughOfHour) return made_of(week_[hour], WindowBasis::kHourOfWeek);
    if (day_[hour % 24].count > 0) return made_of(day_[hour % 24], WindowBasis::kHourOfDay);
    if (overall_.count > 0) return made_of(overall_, WindowBasis::kOverall);
    return {};
}

NetworkProfile::Progress NetworkProfile::progress(Timestamp start, double size_bytes, int hour_count) const
{
    double left_bytes = size_bytes;
    Timestamp now = start;
    const Timestamp limit = start + hour_count * calendar_.hour;
    auto hour = static_cast<std::size_t>(hour_of_week(start, calendar_));
    Timestamp end = next_part(start, calendar_.hour);
    while (now < limit) {
        const double rate = of_hour(hour).rate_bytes;
        const double hour_bytes = rate * Seconds(end - now).count();
        if (hour_bytes >= left_bytes) return {Seconds(now - start).count() + left_bytes / rate, 0};
        left_bytes -= hour_bytes;
        now = end;
        end += calendar_.hour;
        hour = (hour + 1) % kHoursOfWeek;
    }
    return {Seconds(now - start).count(), left_bytes};
}

std::optional<double> NetworkProfile::transfer_s(Timestamp start, double size_bytes) const
{
    if (overall_.count == 0) return std::nullopt;
    const Progress made = progress(start, size_bytes, kWeeksOfTransfer * kHoursOfWeek);
    return made.left_bytes > 0 ? made.elapsed_s + made.left_bytes / overall_.median_bytes : made.elapsed_s;
}

double NetworkProfile::least_end_s(Timestamp start, double size_bytes) const
{
    if (overall_.count == 0 || !(size_bytes > 0)) return 0;
    // Who begins later has moved no more at any moment of that day, and after it nobody is faster than the best rate.
    const Progress made = progress(start, size_bytes, kHoursOfDay);
    return made.left_bytes > 0 ? made.elapsed_s + made.left_bytes / best_rate_bytes_ : made.elapsed_s;
}

std::vector<NetworkStep> find_steps(std::span<const NetworkSample> samples)
{
    std::vector<NetworkSample> sorted;
    for (const NetworkSample& sample : samples) {
        if (sample.rate_bytes > 0 && std::isfinite(sample.rate_bytes)) sorted.push_back(sample);
    }
    std::sort(sorted.begin(), sorted.end(), [](const NetworkSample& a, const NetworkSample& b) {
        return a.at != b.at ? a.at < b.at : a.rate_bytes < b.rate_bytes;
    });
    if (sorted.size() > kMaxSamples)
        sorted.erase(sorted.begin(), sorted.end() - static_cast<std::ptrdiff_t>(kMaxSamples));
    if (sorted.size() < 2 * kMinStretchHours) return {};
    std::vector<double> values;
    values.reserve(sorted.size());
    for (const NetworkSample& sample : sorted)
        values.push_back(portable::log(sample.rate_bytes));

    const std::vector<std::size_t> starts = partition(values);
    const Deviations deviations(values);
    std::vector<NetworkStep> steps;
    for (std::size_t i = 0; i < starts.size(); ++i) {
        const std::size_t before = i == 0 ? 0 : starts[i - 1];
        const std::size_t end = i + 1 < starts.size() ? starts[i + 1] : values.size();
        steps.push_back({sorted[starts[i]].at, portable::exp(deviations.mean(before, starts[i])),
                         portable::exp(deviations.mean(starts[i], end))});
    }
    return steps;
}

std::optional<Timestamp> best_start(NetworkCalendar calendar, Timestamp earliest, Timestamp latest,
                                    const std::function<std::optional<double>(Timestamp)>& cost)
{
    struct Start {
        Timestamp at;
        double cost{};
    };
    std::vector<Start> starts;
    double least = HUGE_VAL;
    const Timestamp limit = std::min(latest, earliest + kHoursOfWeek * calendar.hour);
    const Timestamp::duration step =
        std::max<Timestamp::duration>(calendar.hour / kStartsPerHour, Timestamp::duration(1));
    for (Timestamp at = earliest; at <= limit; at = next_part(at, step)) {
        const std::optional<double> known = cost(at);
        if (!known) return std::nullopt;
        starts.push_back({at, *known});
        least = std::min(least, *known);
    }
    for (const Start& start : starts) {
        if (start.cost <= least * kAsGoodCost) return start.at;
    }
    return std::nullopt;
}

std::optional<NetworkWindow> best_window(const NetworkProfile& profile, double size_bytes, Timestamp earliest,
                                         Timestamp latest)
{
    const auto transfer_s = [&](Timestamp start) { return profile.transfer_s(start, size_bytes); };
    const std::optional<Timestamp> start = best_start(profile.calendar(), earliest, latest, transfer_s);
    if (!start) return std::nullopt;
    return NetworkWindow{*start, transfer_s(*start).value_or(0)};
}

std::optional<GoodHours> good_hours(const NetworkProfile& profile)
{
    const auto& days = profile.days();
    const auto best = std::max_element(days.begin(), days.end(), [](const HourOfWeek& a, const HourOfWeek& b) {
        return a.median_bytes < b.median_bytes;
    });
    if (best->count == 0) return std::nullopt;
    const auto is_good = [&](int hour) {
        const HourOfWeek& known = days[static_cast<std::size_t>((hour + kHoursOfDay) % kHoursOfDay)];
        return known.count > 0 && known.median_bytes >= kGoodShare * best->median_bytes;
    };
    const auto is_worse = [&](const HourOfWeek& known) {
        return known.count > 0 && known.median_bytes < kGoodShare * best->median_bytes;
    };
    if (std::none_of(days.begin(), days.end(), is_worse)) return std::nullopt;
    int first = static_cast<int>(best - days.begin());
    int last = first;
    // Ends at a worse hour, which there is.
    while (is_good(first - 1))
        first = (first - 1 + kHoursOfDay) % kHoursOfDay;
    while (is_good(last + 1))
        last = (last + 1) % kHoursOfDay;
    return GoodHours{first, (last - first + kHoursOfDay) % kHoursOfDay + 1};
}

Json to_json(const NetworkProfile& profile)
{
    const auto list_of = [](const auto& known_hours, const char* name) {
        Json list = Json::array();
        for (std::size_t hour = 0; hour < known_hours.size(); ++hour) {
            const HourOfWeek& known = known_hours[hour];
            if (known.count == 0) continue;
            list.push_back({{name, hour},
                            {"count", known.count},
                            {"median_rate_bytes", known.median_bytes},
                            {"spread", known.spread}});
        }
        return list;
    };
    Json good;
    if (const std::optional<GoodHours> hours = good_hours(profile))
        good = {{"first_hour", hours->first}, {"hour_count", hours->count}};
    return {{"hours", list_of(profile.hours(), "hour_of_week")},
            {"hours_of_day", list_of(profile.days(), "hour_of_day")},
            {"good_hours", std::move(good)},
            {"hour_s", Seconds(profile.calendar().hour).count()}};
}

} // namespace fathom
