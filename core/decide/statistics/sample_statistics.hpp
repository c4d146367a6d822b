#pragma once

#include "core/model/probe_result.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace fathom {

/// What repeated measurements of one thing say (M17). Same unit as the samples.
struct SampleStatistics {
    double median{};
    double ci_low{}; ///< 95 % confidence interval of the median, from order statistics
    double ci_high{};
    double spread{};       ///< interquartile range / median; 0 when the median is 0
    std::size_t counted{}; ///< samples that these figures are of
    std::vector<std::int64_t>
        outliers; ///< indices of samples outside the quartiles by more than 3 interquartile ranges
};

/// Order statistics need no assumption about the distribution: run times are skewed. The interval is
/// the pair of order statistics whose binomial coverage is at least 95 %; with fewer than six samples
/// it is the whole range (its coverage is then 1 − 2^(1−n)). Outliers are marked only, and take part.
/// Source: M17; Hahn and Meeker, Statistical Intervals, section 5.2.
/// @param samples  at least one, finite.
SampleStatistics summarize(std::span<const double> samples);

/// With fewer samples the whole range does not cover the median with 95 %.
inline constexpr std::size_t kMinForInterval = 6;

/// The same of a probe's samples: median, interval and spread are those of the undisturbed samples if these are at
/// least six and at least half of all, else of all. Outliers are looked for among all.
/// Why so: tests/bench/repeatability; why at least half: else a center could pick its best samples.
/// @param disturbed  may name samples twice, or samples that are not there
SampleStatistics summarize(std::span<const double> samples, std::span<const DisturbedSample> disturbed);

/// The value below which `fraction` (0..1) of the values lie, by linear interpolation between order statistics.
/// @param sorted  ascending, not empty.
double quantile(std::span<const double> sorted, double fraction);

/// The middle one, or the mean of the two in the middle.
/// @param values  not empty, in any order.
double median(std::vector<double> values);

} // namespace fathom
