#pragma once

#include "core/model/job.hpp"

#include <cstddef>
#include <span>
#include <vector>

namespace fathom {

/// Costs below it count as it, in the network's currency.
inline constexpr double kMinCost = 1e-4;

/// What a place would bring, all at least 0.
struct Outcome {
    double completion_s{}; ///< from now
    double cost{};         ///< in the network's currency
    double energy_j{};
};

/// What places are compared by, less is better: the weighted geometric mean
/// completion^time · cost^cost · energy^energy. It needs no common unit and no reference, so that a candidate that is
/// added or removed changes the order of no others; halving the cost is worth as much as halving the time when both
/// weigh the same. Amounts below a millisecond, a ten-thousandth of the currency or a joule count as those: what is
/// free does not beat everything. A pure preference gives the amount itself.
/// It never falls when any of the three rises.
double objective(const Preference& preference, const Outcome& outcome);

/// What many places would bring, each in a column of its own; all of one size.
struct OutcomeColumns {
    std::vector<double> completion_s;
    std::vector<double> cost;
    std::vector<double> energy_j;

    void resize(std::size_t size)
    {
        for (std::vector<double>* column : {&completion_s, &cost, &energy_j})
            column->resize(size);
    }
};

/// objective() of each, to the last bit.
/// @param objectives  of the size of the columns.
void set_objectives(const Preference& preference, const OutcomeColumns& outcomes, std::span<double> objectives);

/// A bound of objective() of each, without logarithms: never above it, and, for weights that sum to 1, at least 0.77
/// times as much.
/// @param bounds  of the size of the columns.
void set_objective_bounds(const Preference& preference, const OutcomeColumns& outcomes, std::span<double> bounds);

} // namespace fathom
