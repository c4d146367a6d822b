#include "core/decide/capacity/objective.hpp"

#include "core/base/portable_math.hpp"

#include <algorithm>

namespace fathom {
namespace {

constexpr double kLeastTime_s = 1e-3;
constexpr double kLeastCost = 1e-4;
constexpr double kLeastEnergy_j = 1;

/// amount^weight; amounts that do not count must not turn infinity into something else.
double weighted(double amount, double weight)
{
    if (weight == 0) return 1;
    return weight == 1 ? amount : portable::pow(amount, weight);
}

} // namespace

double objective(const Preference& preference, const Outcome& outcome)
{
    return weighted(std::max(outcome.completion_s, kLeastTime_s), preference.time) *
           weighted(std::max(outcome.cost, kLeastCost), preference.cost) *
           weighted(std::max(outcome.energy_j, kLeastEnergy_j), preference.energy);
}

} // namespace fathom
