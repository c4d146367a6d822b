#include "core/decide/capacity/objective.hpp"

#include "core/base/portable_math.hpp"

#include <algorithm>

namespace fathom {
namespace {

constexpr double kMinTime_s = 1e-3;
constexpr double kMinCost = 1e-4;
constexpr double kMinEnergy_j = 1;

/// amount^weight; amounts that do not count must not turn infinity into something else.
double weighted(double amount, double weight)
{
    if (weight == 0) return 1;
    return weight == 1 ? amount : portable::pow(amount, weight);
}

} // namespace

double objective(const Preference& preference, const Outcome& outcome)
{
    return weighted(std::max(outcome.completion_s, kMinTime_s), preference.time) *
           weighted(std::max(outcome.cost, kMinCost), preference.cost) *
           weighted(std::max(outcome.energy_j, kMinEnergy_j), preference.energy);
}

} // namespace fathom
