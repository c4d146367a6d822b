#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace fathom {

/// What repeated measurements of one thing say (M17). Same unit as the samples.
struct SampleStatistics {
    double median{};
    double ci_low{}; ///< 95 % confidence interval of the median, from order statistics
    double ci_high{};
    double spread{}; ///< interquartile range / median; 0 when the median is 0
    std::vector<std::int64_t>
        outliers; ///< indices of samples outside the quartiles by more than 3 interquartile ranges
};

/// Order statistics need no assumption about the distribution: run times are skewed. The interval is
/// the pair of order statistics whose binomial coverage is at least 95 %; with fewer than six samples
/// it is the whole range (its coverage is then 1 − 2^(1−n)). Outliers are marked only, and take part.
/// Source: M17; Hahn and Meeker, Statistical Intervals, section 5.2.
/// @param samples  at least one, finite.
SampleStatistics summarize(std::span<const double> samples);

/// The value below which `fraction` (0..1) of the values lie, by linear interpolation between order statistics.
/// @param sorted  ascending, not empty.
double quantile(std::span<const double> sorted, double fraction);

/// The middle one, or the mean of the two in the middle.
/// @param values  not empty, in any order.
double median(std::vector<double> values);

} // namespace fathom
