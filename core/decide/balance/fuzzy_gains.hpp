#pragma once

#include "core/decide/balance/gain_schedule.hpp"

/// Adapts gains to the error and its change by a fuzzy rule base (spec 3, R5).
namespace fathom {

struct FuzzySettings {
    bool is_on = true;
    double error_scale = 0.6;   ///< the error that counts as PB; its negative as NB
    double change_scale = 0.3;  ///< the same of the change of the error
    Gains most{0.4, 0.06, 0.2}; ///< what PB adds to each gain, and NB takes from it

    bool operator==(const FuzzySettings&) const = default;
};

/// ΔK_p, ΔK_i and ΔK_d. Error and change are fuzzified into NB, NM, NS, ZO, PS, PM, PB by triangles that overlap by
/// half, so that each lies in two at most; 49 rules are inferred by the product of their memberships; the result is the
/// centroid of their consequences, which are singletons at −1, −2/3 … 1 times FuzzySettings::most. Continuous, and the
/// same for (−e, −ec) as for (e, ec).
Gains fuzzy_change(const FuzzySettings& settings, double error, double change);

/// The gains in use: those of the region and what the rules add. None is negative, and the orders < of R4 hold between
/// gains in use at any two moments: each keeps within a third of the gap to those of other regions. K_i1 stays 0.
Gains adapted_gains(const GainSchedule& schedule, GainRegion region, const Gains& change);

} // namespace fathom
