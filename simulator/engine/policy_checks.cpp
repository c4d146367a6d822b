#include "simulator/engine/policy_checks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace fathom::simulation {

Error broken(std::string detail)
{
    return {Errc::kInternal, std::move(detail)};
}

Result<void> check_start(const PolicyStart& start, const PolicySituation& situation, NetworkState& state)
{
    if (start.job >= situation.arrived || start.unit_type >= state.size())
        return broken("the policy started a job, or used a unit type, that is not there");
    const JobOutcome& outcome = situation.outcomes[start.job];
    if (outcome.state != JobState::kUnfinished || outcome.unit_count > 0)
        return broken(fmt::format("the policy started job {} twice", start.job));
    const Scenario& scenario = *situation.scenario;
    const Job& job = scenario.workload.jobs[start.job];
    if (!fits(scenario, job, start.unit_type) || start.unit_count < job.unit_count ||
        start.unit_count > std::max(job.unit_count, job.max_units))
        return broken(fmt::format("the policy started job {} where it cannot run", start.job));
    const UnitType& unit_type = scenario.network.unit_types[start.unit_type];
    if (start.unit_count > state.pool(start.unit_type).free_units())
        return broken(fmt::format("the policy used units of {} twice", unit_type.name));
    if (open_for_s(scenario.network.centers[unit_type.center], situation.now_s) <= 0)
        return broken(fmt::format("the policy started job {} at a closed center", start.job));
    if (!(start.slowdown >= 1) || !std::isfinite(start.slowdown))
        return broken(fmt::format("the policy expects no possible slowdown of job {} beside others", start.job));
    return {};
}

Result<void> check_choice(const PolicyStart& chosen, std::size_t job, std::span<const std::uint32_t> possible,
                          const Network& network)
{
    const bool is_possible = std::find(possible.begin(), possible.end(), chosen.unit_type) != possible.end() &&
                             chosen.unit_count >= 1 &&
                             chosen.unit_count <= network.unit_types[chosen.unit_type].unit_count;
    if (chosen.job != job || !is_possible || !(chosen.predicted_s > 0))
        return broken(fmt::format("the policy sent job {} where it cannot run", job));
    return {};
}

} // namespace fathom::simulation
