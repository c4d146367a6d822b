#include "core/decide/capacity/objective.hpp"

#include "core/base/portable_math.hpp"
#include "core/model/job.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace fathom {
namespace {

constexpr double kMinTime_s = 1e-3;
constexpr double kMinEnergy_j = 1;

/// amount^weight; amounts that do not count must not turn infinity into something else.
double weighted(double amount, double weight)
{
    if (weight == 0) return 1;
    return weight == 1 ? amount : portable::pow(amount, weight);
}

/// A bound of amount^weight from below, for amounts above 0 and weights below 1. The bits of a number are its binary
/// logarithm but for a straight line between powers of two, which is never above it; read backwards, the line is at
/// most 1.0615 times the power.
double weighted_at_least(double amount, double weight)
{
    constexpr auto kBitsOfOne = std::bit_cast<std::int64_t>(1.0);
    constexpr double kLine = 0.942;
    const auto log = static_cast<double>(std::bit_cast<std::int64_t>(amount) - kBitsOfOne);
    return kLine * std::bit_cast<double>(kBitsOfOne + static_cast<std::int64_t>(weight * log));
}

/// Multiplies each objective with its weighted amount: one plain loop for each of the cases of weighted().
/// @param power  amount^weight where the weight is neither 0 nor 1.
template <class Power>
void multiply(std::span<double> objectives, const std::vector<double>& amounts, double least, double weight,
              const Power& power)
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
        product[i] *= power(std::max(amount[i], least), weight);
}

template <class Power>
void multiply_all(const Preference& preference, const OutcomeColumns& outcomes, std::span<double> objectives,
                  const Power& power)
{
    std::fill(objectives.begin(), objectives.end(), 1.0);
    multiply(objectives, outcomes.completion_s, kMinTime_s, preference.time, power);
    multiply(objectives, outcomes.cost, kMinCost, preference.cost, power);
    multiply(objectives, outcomes.energy_j, kMinEnergy_j, preference.energy, power);
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
    multiply_all(preference, outcomes, objectives,
                 [](double amount, double weight) { return portable::pow(amount, weight); });
}

void set_objective_bounds(const Preference& preference, const OutcomeColumns& outcomes, std::span<double> bounds)
{
    multiply_all(preference, outcomes, bounds, weighted_at_least);
}

} // namespace fathom
