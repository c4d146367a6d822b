#pragma once

#include "simulator/figures/confidence.hpp"
#include "simulator/figures/figures.hpp"

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace fathom::simulation {

/// What is added to a policy's name where it was simulated with GPUs that jobs share.
inline constexpr std::string_view kSharedGpus = "+sharing";
/// The name without it.
std::string_view policy_of(std::string_view name);

/// The runs of one policy, one for each seed.
struct PolicyGroup {
    std::string name;
    std::vector<const PolicyRun*> runs; ///< at least one
    bool is_partial = false;            ///< one of them was stopped
    bool is_reference = false;          ///< it knows what nobody can know: a bound, not a choice
};

/// In the order in which policies come first. The groups point to the runs.
std::vector<PolicyGroup> group_by_policy(std::span<const PolicyRun> runs);

/// What each run of a policy gives, over its seeds.
Confidence over_seeds(const PolicyGroup& policy, const std::function<double(const PolicyRun&)>& value);

} // namespace fathom::simulation
