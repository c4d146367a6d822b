#pragma once

#include <vector>

namespace fathom {

struct WeightedValue {
    double value{};
    double weight{}; ///< above 0
};

/// The smallest value that, with all smaller ones, has at least `fraction` of the weight; where it has exactly that,
/// the middle between it and the next. It takes a value that is there, so that a far one with little weight does not
/// pull.
/// @param values  not empty, in any order; @param fraction  above 0 and below 1.
double weighted_quantile(std::vector<WeightedValue> values, double fraction);
double weighted_median(std::vector<WeightedValue> values);

/// The standard deviation that the median of absolute deviations tells of a normal distribution, held towards `prior`
/// as if so much weight had said so.
double weighted_deviation(std::vector<WeightedValue> away, double prior, double prior_weight);

} // namespace fathom
