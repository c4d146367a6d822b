#pragma once

#include "core/decide/history/run_history.hpp"

#include <array>
#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <string_view>

/// How well past runs were predicted.
namespace fathom {

/// What a prediction rests on. How far predictions are off differs by it, and so does how far their intervals are from
/// what they should be: one width for all would make those of first runs too narrow by those of later ones.
enum class Rung {
    kRuns,      ///< runs of the job type on the unit type
    kReference, ///< none: a known run elsewhere
    kOperators, ///< none: the sum of the job's operators
};
inline constexpr std::size_t kRungs = 3;
std::string_view to_string(Rung rung); ///< as its rung in explanations is called

/// Of predictions without runs of the type on the unit type.
Rung rung_of(RawBasis basis);

/// Of the predictions on one rung. Those without a raw prediction have none.
struct RungCalibration {
    Calibration all;
    std::map<std::string, double, std::less<>> width_factors; ///< by unit type

    double width_factor(std::string_view unit_type) const;
};

struct RunCalibrations {
    Calibration all;
    std::map<std::string, Calibration, std::less<>> by_unit_type;
    std::map<std::string, Calibration, std::less<>> by_job_type;
    std::array<RungCalibration, kRungs> by_rung;

    const RungCalibration& on(Rung rung) const { return by_rung[static_cast<std::size_t>(rung)]; }
};

/// Of the runs that had a prediction, made before they ran. A width factor is the 80 % quantile of how many half widths
/// the actual time was away, the width factor of that prediction taken out; runs count half after 30 days, and half
/// after n/4 newer ones of n (25 to 400). Only predictions from measurements take part in it: the interval of an
/// estimate is that of past times itself. With fewer than kMinForWidth runs it is 1, and from n runs ln(factor)
/// counts n / (n + kMinForWidth). That of a unit type, job type or rung is shrunk in the same way towards that of
/// all, and that of a unit type on one rung towards that of the rung. Always within kMinWidth..kMaxWidth.
///
/// A run counts as predicted from runs where others of its type, its owner's or else its project's, had ended on its
/// unit type when it was decided on.
RunCalibrations calibrate(std::span<const PastRun> runs, Timestamp now);
/// The same without what no prediction takes: by_unit_type and by_job_type are empty.
RunCalibrations calibrate_rungs(std::span<const PastRun> runs, Timestamp now);

inline constexpr double kMinForWidth = 10;
inline constexpr double kMinWidth = 0.25;
inline constexpr double kMaxWidth = 4;

/// How much a run counts: half after 30 days.
double recency(Timestamp ended_at, Timestamp now);

/// Where a time counts as one: positive and finite.
bool is_time(double seconds);

} // namespace fathom
