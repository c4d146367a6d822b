#include "core/decide/balance/fuzzy_gains.hpp"

#include "core/decide/balance/control_law.hpp"
#include "core/decide/balance/gain_schedule.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

namespace fathom {
namespace {

constexpr int kTerms = 7; ///< NB NM NS ZO PS PM PB

using Rules = std::array<std::array<int, kTerms>, kTerms>;

// Consequences from -3 (NB) to 3 (PB): a row for each term of the error, a column for each of its change. Where both
// have one sign the error grows; where they differ it shrinks.

// Large errors that grow get more, small ones that shrink fast get less.
constexpr Rules kProportionalRules{{{3, 3, 2, 2, 1, 0, -1},
                                    {3, 2, 2, 1, 0, -1, -2},
                                    {2, 2, 1, 0, -1, -2, -2},
                                    {-1, -1, 0, 0, 0, -1, -1},
                                    {-2, -2, -1, 0, 1, 2, 2},
                                    {-2, -1, 0, 1, 2, 2, 3},
                                    {-1, 0, 1, 2, 2, 3, 3}}};

// What lasts is integrated; what is large or moves is not.
constexpr Rules kIntegralRules{{{-3, -3, -2, -2, -2, -3, -3},
                                {-3, -2, -1, 0, -1, -2, -3},
                                {-2, -1, 1, 2, 0, -1, -2},
                                {-2, -1, 1, 3, 1, -1, -2},
                                {-2, -1, 0, 2, 1, -1, -2},
                                {-3, -2, -1, 0, -1, -2, -3},
                                {-3, -3, -2, -2, -2, -3, -3}}};

// What moves fast near balance is braked; of a large error the derivative says little.
constexpr Rules kDerivativeRules{{{-1, -2, -3, -3, -2, 0, 1},
                                  {0, -1, -2, -2, -1, 1, 2},
                                  {1, 0, -1, -1, 0, 2, 3},
                                  {2, 1, 0, 0, 0, 1, 2},
                                  {3, 2, 0, -1, -1, 0, 1},
                                  {2, 1, -1, -2, -2, -1, 0},
                                  {1, 0, -2, -3, -3, -2, -1}}};

/// A value's memberships: `upper` in the term `lower_term` + 1, the rest in `lower_term`.
struct Membership {
    std::size_t lower_term{};
    double upper{};
};

Membership fuzzify(double value, double scale)
{
    const double place = std::clamp(value / scale, -1.0, 1.0) * 3 + 3; // 0: NB, 6: PB
    const double lower = std::min(std::floor(place), 5.0);
    return {static_cast<std::size_t>(lower), place - lower};
}

/// The centroid of the consequences, from −1 to 1. The four memberships sum to 1.
double infer(const Rules& rules, Membership error, Membership change)
{
    const auto row = [&](std::size_t term) {
        const std::array<int, kTerms>& consequences = rules.at(term);
        return (1 - change.upper) * consequences.at(change.lower_term) +
               change.upper * consequences.at(change.lower_term + 1);
    };
    return ((1 - error.upper) * row(error.lower_term) + error.upper * row(error.lower_term + 1)) / 3;
}

/// What keeps apart a gain and a larger one of another region: each may come a third of the way.
double kept_below(double gain, double larger)
{
    return gain + (larger - gain) / 3;
}

double kept_above(double gain, double smaller)
{
    return gain - (gain - smaller) / 3;
}

} // namespace

Gains fuzzy_change(const FuzzySettings& settings, double error, double change)
{
    const Membership error_terms = fuzzify(error, settings.error_scale);
    const Membership change_terms = fuzzify(change, settings.change_scale);
    return {settings.most.proportional * infer(kProportionalRules, error_terms, change_terms),
            settings.most.integral * infer(kIntegralRules, error_terms, change_terms),
            settings.most.derivative * infer(kDerivativeRules, error_terms, change_terms)};
}

Gains adapted_gains(const GainSchedule& schedule, GainRegion region, const Gains& change)
{
    const auto& [p1, p2, p3] = schedule.proportional;
    const auto& [i1, i2, i3] = schedule.integral;
    const auto& [d1, d2, d3, d4] = schedule.derivative;
    const double least_large_p = std::min(p1, p3);
    const double most_small_d = std::max({d1, d2, d4});
    const Gains initial = gains_of(schedule, region);
    Gains gains{initial.proportional + change.proportional, initial.integral + change.integral,
                initial.derivative + change.derivative};
    gains.proportional = region == GainRegion::kMiddle
                             ? std::clamp(gains.proportional, 0.0, kept_below(p2, least_large_p))
                             : std::max(gains.proportional, kept_above(least_large_p, p2));
    gains.derivative = region == GainRegion::kNearFast
                           ? std::max(gains.derivative, kept_above(d3, most_small_d))
                           : std::clamp(gains.derivative, 0.0, kept_below(most_small_d, d3));
    if (region == GainRegion::kFar)
        gains.integral = i1;
    else if (region == GainRegion::kMiddle)
        gains.integral = std::clamp(gains.integral, kept_above(i2, i1), kept_below(i2, i3));
    else
        gains.integral = std::max(gains.integral, kept_above(i3, i2));
    return gains;
}

} // namespace fathom
