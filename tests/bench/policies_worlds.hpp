#pragma once

#include "core/base/result.hpp"
#include "simulator/world/scenario.hpp"

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

/// The worlds that policies are compared in.
namespace fathom::simulation {

/// How Fathom knows how much work a job is. Speeds it has measured in all worlds; naive policies have data sheets.
enum class WorkKnowledge {
    kProfile,  ///< the true work, as far off as predictions were measured to be
    kEstimate, ///< what its user says, as naive policies do
};

struct PolicyWorld {
    std::string name;
    WorkKnowledge knowledge = WorkKnowledge::kProfile;
    std::string known; ///< what each policy knows, for people
    std::function<Scenario(std::uint64_t seed)> draw;
    std::uint64_t most_seeds = 1000; ///< with more, draws repeat
    double load{};                   ///< of the counted jobs of a log, of all that are drawn; see load_of()
    bool is_reference = false;       ///< the published case: 36 + 36 + 36, single GPUs, 5.6 jobs an hour
    bool is_large = false; ///< rules of order that are for comparison only are left out: they take minutes there
};

/// The worlds of a folder with the public sets, or excerpts of them: gavel/solo.csv, swf/CTC-SP2-1996-3.1-cln.csv,
/// uob/devices_2019.csv, uob/device_spec_2019.csv, pollux/workloads.csv, philly/jobs_first_half.csv; a file may end in
/// .gz.
/// @param is_quick  one load of each kind.
/// @error kNotFound  a file is missing.
/// @error kInvalid   one cannot be read; says where.
Result<std::vector<PolicyWorld>> policy_worlds(const std::filesystem::path& folder, bool is_quick);

} // namespace fathom::simulation
