#pragma once

#include "simulator/corun/corun_world.hpp"

#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

/// Who decides which jobs share the simulated GPU. Policies see what a runtime could report, never the truth.
namespace fathom::simulation {

/// A job in the GPU's queue or on it.
struct CorunActive {
    std::size_t job{};
    std::size_t kind{}; ///< of the stage that runs or is next
    bool is_high_priority{};
    bool was_preempted{};
    double arrival_s{};
    double left_s{};       ///< expected, alone on the GPU, to the end of the job
    double stage_left_s{}; ///< expected, of this stage
};

/// What a policy decides on.
struct CorunView {
    double now_s{};
    const CorunWorld* world{}; ///< kinds, limit, costs and what fits; its throughputs are not for policies
    std::span<const CorunActive> running;
    std::span<const CorunActive> waiting; ///< by arrival
};

/// One step; nothing in it: what runs goes on.
struct CorunStep {
    std::vector<std::size_t> victims;  ///< jobs
    std::optional<std::size_t> launch; ///< job

    bool is_keep() const { return victims.empty() && !launch; }
};

/// Two kinds ran together for a while.
struct CorunObservation {
    std::size_t a{};
    std::size_t b{};
    double a_share{};
    double b_share{};
};

class CorunPolicy {
  public:
    virtual ~CorunPolicy() = default;
    CorunPolicy(const CorunPolicy&) = delete;
    CorunPolicy& operator=(const CorunPolicy&) = delete;

    /// Asked again after each of its steps until it keeps.
    virtual CorunStep next(const CorunView& view) = 0;
    virtual void observe(const CorunObservation&) {}

  protected:
    CorunPolicy() = default;
};

/// Settings of the policy that decides with decide_corun().
struct CorunPolicySettings {
    /// How much more the progress of jobs of high priority counts. The default puts them before all others.
    double high_priority_weight{1e6};
    /// One of them that has lost more than this part of its length, to whatever it waited for or ran beside, puts them
    /// before all others until it has ended. What cannot be interrupted may still delay it then.
    double most_delay{0.05};
};

struct CorunPolicyName {
    std::string_view name;
    std::string_view description;
    std::unique_ptr<CorunPolicy> (*make)(const CorunWorld& world, const CorunPolicySettings& settings);
};

/// The simpler ones first, the last is "fathom".
std::span<const CorunPolicyName> corun_policies();
/// Null: there is none of that name.
const CorunPolicyName* find_corun_policy(std::string_view name);

} // namespace fathom::simulation
