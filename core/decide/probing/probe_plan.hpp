#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

/// Which measurements are worth their time when nobody asks for one (M21).
namespace fathom {

/// One thing that could be measured again: an operator at a size, or a job type's probe task, on a unit type.
struct ProbeCandidate {
    std::string id;                ///< unique among the candidates; decides between equals
    std::optional<double> age_s{}; ///< of its oldest figure; empty: never measured
    double interval{};             ///< relative: half the width of the widest 95 % interval ÷ its median
    double use{};                  ///< share of the jobs' run time that needs it, 0…1
    double cost_s{};               ///< unit-seconds that measuring it takes, > 0
};

struct ProbePlanRule {
    double metering_period_s{};    ///< after which a figure is stale
    double target_interval{0.03};  ///< at or below, an interval adds nothing to the value
    double highest_staleness{4};   ///< that of what was never measured
    double highest_uncertainty{4}; ///< that of what was never measured
    double least_use{0.05};        ///< what no job needs yet is measured now and then all the same
};

/// What a new figure is worth: staleness × uncertainty × use, where
///
///     staleness   = age ÷ metering period, 0 below 1 (it is not stale), at most highest_staleness
///     uncertainty = interval ÷ target interval, from 1 to highest_uncertainty
///     use         = least_use + (1 − least_use) · share of the jobs' run time
///
/// Fathom's own rule; it grows with each of the three and has no unit.
double value_of(const ProbeCandidate& candidate, const ProbePlanRule& rule);

/// Picks what to measure for at most `allowance_s` unit-seconds in all: by value per second of cost, highest first;
/// what no longer fits is passed over. What is worth nothing, or costs nothing, is never picked.
/// @return indices into `candidates`, best first; the picks do not depend on the candidates' order.
std::vector<std::size_t> plan_probes(std::span<const ProbeCandidate> candidates, const ProbePlanRule& rule,
                                     double allowance_s);

} // namespace fathom
