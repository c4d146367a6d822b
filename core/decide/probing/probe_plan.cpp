#include "core/decide/probing/probe_plan.hpp"

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

namespace fathom {

double value_of(const ProbeCandidate& candidate, const ProbePlanRule& rule)
{
    const double share = std::clamp(candidate.use, 0.0, 1.0);
    const double use = rule.least_use + (1 - rule.least_use) * share;
    if (!candidate.age_s) return rule.highest_staleness * rule.highest_uncertainty * use;
    const double periods = *candidate.age_s / rule.metering_period_s;
    if (!(periods >= 1)) return 0;
    const double staleness = std::min(periods, rule.highest_staleness);
    const double uncertainty = std::clamp(candidate.interval / rule.target_interval, 1.0, rule.highest_uncertainty);
    return staleness * uncertainty * use;
}

std::vector<std::size_t> plan_probes(std::span<const ProbeCandidate> candidates, const ProbePlanRule& rule,
                                     double allowance_s)
{
    struct Ranked {
        std::size_t index;
        double value_per_s;
    };
    std::vector<Ranked> ranked;
    for (std::size_t i = 0; i < candidates.size(); ++i) {
        const ProbeCandidate& candidate = candidates[i];
        const double value = value_of(candidate, rule);
        if (value > 0 && candidate.cost_s > 0) ranked.push_back({i, value / candidate.cost_s});
    }
    std::sort(ranked.begin(), ranked.end(), [&](const Ranked& a, const Ranked& b) {
        if (a.value_per_s != b.value_per_s) return a.value_per_s > b.value_per_s;
        return candidates[a.index].id < candidates[b.index].id;
    });
    std::vector<std::size_t> picks;
    double left_s = allowance_s;
    for (const Ranked& one : ranked) {
        if (candidates[one.index].cost_s > left_s) continue;
        left_s -= candidates[one.index].cost_s;
        picks.push_back(one.index);
    }
    return picks;
}

} // namespace fathom
