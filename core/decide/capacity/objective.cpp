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

/// Multiplies each objective with its weighted amount: one plain loop for each of the cases of weighted().
void multiply(std::span<double> objectives, const std::vector<double>& amounts, double least, double weight)
{
    if (weight == 0) return;
    const double* const amount = amounts.data();
    double* const product = objectives.data();
    const std::size_t size = objectives.size();
    if (weight == 1) {
        for (std::size_t i = 0; i < size; ++i)
            product[i] *= std::max(amount[i], least);
        return;
    }
    for (std::size_t i = 0; i < size; ++i)
        product[i] *= portable::pow(std::max(amount[i], least), weight);
}

} // namespace

double objective(const Preference& preference, const Outcome& outcome)
{
    return weighted(std::max(outcome.completion_s, kMinTime_s), preference.time) *
           weighted(std::max(outcome.cost, kMinCost), preference.cost) *
           weighted(std::max(outcome.energy_j, kMinEnergy_j), preference.energy);
}

void set_objectives(const Preference& preference, const OutcomeColumns& outcomes, std::span<double> objectives)
{
    std::fill(objectives.begin(), objectives.end(), 1.0);
    multiply(objectives, outcomes.completion_s, kMinTime_s, preference.time);
    multiply(objectives, outcomes.cost, kMinCost, preference.cost);
    multiply(objectives, outcomes.energy_j, kMinEnergy_j, preference.energy);
}

} // namespace fathom
