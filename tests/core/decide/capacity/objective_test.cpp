#include "core/decide/capacity/objective.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <random>

namespace fathom {
namespace {

/// Amounts of every size, some below those that count.
OutcomeColumns random_outcomes(std::mt19937_64& random, std::size_t size)
{
    std::uniform_real_distribution<double> power(-9, 12);
    OutcomeColumns outcomes;
    outcomes.resize(size);
    for (std::size_t i = 0; i < size; ++i) {
        outcomes.completion_s[i] = std::pow(10, power(random));
        outcomes.cost[i] = i % 5 == 0 ? 0 : std::pow(10, power(random));
        outcomes.energy_j[i] = i % 7 == 0 ? 0 : std::pow(10, power(random));
    }
    return outcomes;
}

TEST(Objective, OfColumnsIsThatOfEachPlaceAndItsBoundIsNeverAboveIt)
{
    std::mt19937_64 random(3);
    std::uniform_real_distribution<double> share(0, 1);
    std::vector<Preference> preferences{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {0.5, 0.5, 0}, {0, 0.5, 0.5}};
    for (int i = 0; i < 50; ++i) {
        const double time = share(random);
        const double cost = share(random) * (1 - time);
        preferences.push_back({time, cost, 1 - time - cost});
    }
    for (const Preference& preference : preferences) {
        const OutcomeColumns outcomes = random_outcomes(random, 200);
        std::vector<double> objectives(200);
        std::vector<double> bounds(200);

        set_objectives(preference, outcomes, objectives);
        set_objective_bounds(preference, outcomes, bounds);

        for (std::size_t i = 0; i < objectives.size(); ++i) {
            const double plain =
                objective(preference, {outcomes.completion_s[i], outcomes.cost[i], outcomes.energy_j[i]});
            ASSERT_EQ(objectives[i], plain) << to_string(preference) << " " << i;
            ASSERT_LE(bounds[i], plain) << to_string(preference) << " " << i;
            ASSERT_GE(bounds[i], 0.77 * plain) << to_string(preference) << " " << i;
        }
    }
}

} // namespace
} // namespace fathom
