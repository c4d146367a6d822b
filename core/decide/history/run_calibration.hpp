#pragma once

#include "core/decide/history/run_history.hpp"

#include <map>
#include <span>
#include <string>

/// How well past runs were predicted.
namespace fathom {

struct RunCalibrations {
    Calibration all;
    std::map<std::string, Calibration, std::less<>> by_unit_type;
    std::map<std::string, Calibration, std::less<>> by_job_type;
};

/// Of the runs that had a prediction, made before they ran. A width factor is the 80 % quantile of how many half widths
/// the actual time was away, the width factor of that prediction taken out; runs count half after 30 days, and half
/// after n/4 newer ones of n (25 to 400). Only predictions from measurements take part in it: the interval of an
/// estimate is that of past times itself. With fewer than kMinForWidth runs it is 1, and from n runs ln(factor)
/// counts n / (n + kMinForWidth). That of a unit type or job type is shrunk in the same way towards that of all.
/// Always within kMinWidth..kMaxWidth.
RunCalibrations calibrate(std::span<const PastRun> runs, Timestamp now);

inline constexpr double kMinForWidth = 10;
inline constexpr double kMinWidth = 0.25;
inline constexpr double kMaxWidth = 4;

/// How much a run counts: half after 30 days.
double recency(Timestamp ended_at, Timestamp now);

/// Where a time counts as one: positive and finite.
bool is_time(double seconds);

} // namespace fathom
