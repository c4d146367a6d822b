#pragma once

#include "core/base/clock.hpp"
#include "core/base/json_reader.hpp"

#include <array>
#include <functional>
#include <optional>
#include <span>
#include <vector>

/// When a center's network is good (M20): the same transfer, timed again and again, shows by its change the
/// bandwidth over the week.
namespace fathom {

/// One timed transfer.
struct NetworkSample {
    Timestamp at{};
    double rate_bytes{}; ///< bytes per second: the transfer's size divided by its run time
};

/// The week that bandwidth is known by: 168 hours, the first of each week counted from Monday 1969-12-29 00:00 UTC,
/// which makes hour 0 of an ordinary week Monday 00:00–01:00 UTC. A laboratory may live faster.
struct NetworkCalendar {
    Timestamp::duration hour = std::chrono::hours(1); ///< positive
};

/// What an hour of the week usually gives.
struct HourOfWeek {
    std::int64_t count{};  ///< samples
    double median_bytes{}; ///< bytes per second; 0 without samples
    double spread{};       ///< interquartile range / median
};

/// Where a rate is known from.
enum class WindowBasis {
    kHourOfWeek, ///< at least two samples of this very hour of the week
    kHourOfDay,  ///< of this hour on any day
    kOverall,    ///< of any time
    kUnknown,    ///< no samples at all
};
std::string_view to_string(WindowBasis basis);

struct RateAtTime {
    double rate_bytes{}; ///< 0 when unknown
    double spread{};
    WindowBasis basis{WindowBasis::kUnknown};
};

/// Bandwidth by hour of the week.
class NetworkProfile {
  public:
    /// Samples in any order; rates that are not positive are left out.
    explicit NetworkProfile(std::span<const NetworkSample> samples, NetworkCalendar calendar = {});

    /// What a profile knows: from it comes an equal one again.
    struct Known {
        NetworkCalendar calendar;
        std::array<HourOfWeek, 168> hours;
        std::array<HourOfWeek, 24> days;
        HourOfWeek overall;
    };
    static NetworkProfile from(const Known& known);
    Known known() const { return {calendar_, week_, day_, overall_}; }

    const NetworkCalendar& calendar() const { return calendar_; }
    const std::array<HourOfWeek, 168>& hours() const { return week_; }
    /// What each hour of the day gives on any day; hour 0 is 00:00–01:00 UTC.
    const std::array<HourOfWeek, 24>& days() const { return day_; }
    /// The best median that any hour or all time is known by: no transfer is expected to be faster. 0 without samples.
    double best_rate_bytes() const { return best_rate_bytes_; }
    /// The least that at() says of any time: no transfer is expected to be slower. 0 without samples.
    double least_rate_bytes() const { return least_rate_bytes_; }
    double median_rate_bytes() const { return overall_.median_bytes; } ///< of all samples; 0 without any

    /// The median of the hour of the week that `at` lies in; of the hour of the day where fewer than two
    /// samples are known of that; of everything where there are none of that either.
    RateAtTime at(Timestamp at) const;

    /// Seconds that a transfer of `size_bytes` takes from `start` on, hour by hour; the end is open: after two
    /// weeks the overall rate goes on for ever. Empty when nothing is known.
    std::optional<double> transfer_s(Timestamp start, double size_bytes) const;

    /// Seconds after `start` before which no transfer of `size_bytes` ends that begins then or later. What a day of the
    /// calendar does not suffice for counts at the best rate. 0 when nothing is known.
    double least_end_s(Timestamp start, double size_bytes) const;

  private:
    struct Progress {
        double elapsed_s{};
        double left_bytes{}; ///< 0: it has ended
    };
    /// How far a transfer gets from `start` on in so many hours of the calendar.
    Progress progress(Timestamp start, double size_bytes, int hour_count) const;
    /// The best and the least.
    void find_extreme_rates();
    RateAtTime of_hour(std::size_t hour_of_week) const;

    NetworkCalendar calendar_;
    std::array<HourOfWeek, 168> week_{};
    std::array<HourOfWeek, 24> day_{};
    HourOfWeek overall_;
    double best_rate_bytes_{};
    double least_rate_bytes_{};
};

/// 0..167; hour 0 begins with Monday.
int hour_of_week(Timestamp at, NetworkCalendar calendar = {});

/// A moment at which the bandwidth changed and stayed changed.
struct NetworkStep {
    Timestamp at{}; ///< of the first sample behind the step
    double before_bytes{};
    double after_bytes{};
};

/// Finds steps by optimal partitioning (Jackson et al., IEEE Signal Processing Letters 2005) of the logarithm
/// of the rate: each stretch is at least three samples long, and a step must pay for itself against the noise,
/// which is taken from the differences of neighbours. Samples in any order; the newest 2 000 are looked at.
std::vector<NetworkStep> find_steps(std::span<const NetworkSample> samples);

/// The best time for a transfer.
struct NetworkWindow {
    Timestamp start{};
    double transfer_s{};
};

/// A start whose cost is at most so many times the least is as good as the best.
inline constexpr double kAsGoodCost = 1.01;

/// Of the starts `earliest`, and each full quarter of an hour up to `latest`, the one of least cost; of starts within
/// 1 % of the best the earliest, so that nothing waits for nothing. At most a week is searched: then all comes again.
/// Empty when `latest` lies before `earliest`, or when a cost is not known.
/// @param cost  at least 0, called for each start in order of time.
std::optional<Timestamp> best_start(NetworkCalendar calendar, Timestamp earliest, Timestamp latest,
                                    const std::function<std::optional<double>(Timestamp)>& cost);

/// The best start of one transfer, its time being the cost.
std::optional<NetworkWindow> best_window(const NetworkProfile& profile, double size_bytes, Timestamp earliest,
                                         Timestamp latest);

/// Hours of the day that follow each other, perhaps over midnight.
struct GoodHours {
    int first{}; ///< 0..23
    int count{}; ///< 1..23
};

/// The hours around the best hour of the day whose medians reach 80 % of it: when to move data on any day. Empty when
/// all known hours are that good, or none is known.
std::optional<GoodHours> good_hours(const NetworkProfile& profile);

Json to_json(const NetworkProfile& profile);

} // namespace fathom
