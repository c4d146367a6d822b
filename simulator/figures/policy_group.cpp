#include "simulator/figures/policy_group.hpp"

#include "simulator/figures/confidence.hpp"

#include <algorithm>

namespace fathom::simulation {
namespace {

PolicyGroup new_group(const std::string& name)
{
    return {name, {}, false, find_policy(policy_of(name)).knowledge == KnowledgeKind::kPerfect};
}

} // namespace

std::string_view policy_of(std::string_view name)
{
    return name.ends_with(kSharedGpus) ? name.substr(0, name.size() - kSharedGpus.size()) : name;
}

std::vector<PolicyGroup> group_by_policy(std::span<const PolicyRun> runs)
{
    std::vector<PolicyGroup> groups;
    for (const PolicyRun& run : runs) {
        auto known = std::find_if(groups.begin(), groups.end(),
                                  [&](const PolicyGroup& group) { return group.name == run.policy; });
        if (known == groups.end()) known = groups.insert(groups.end(), new_group(run.policy));
        known->runs.push_back(&run);
        known->is_partial = known->is_partial || run.result.was_stopped;
    }
    return groups;
}

Confidence over_seeds(const PolicyGroup& policy, const std::function<double(const PolicyRun&)>& value)
{
    std::vector<double> values;
    values.reserve(policy.runs.size());
    for (const PolicyRun* const run : policy.runs)
        values.push_back(value(*run));
    return confidence(values);
}

} // namespace fathom::simulation
