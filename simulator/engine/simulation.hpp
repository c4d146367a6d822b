#pragma once

#include "core/base/result.hpp"
#include "simulator/policies/policy.hpp"
#include "simulator/world/scenario.hpp"

#include <atomic>
#include <functional>

/// An exact event simulation of a compute network. No clock and no randomness but the seed's: the same scenario,
/// policy and seed give the same result bit for bit, on any machine.
namespace fathom::simulation {

enum class JobState : std::uint8_t {
    kEnded,
    kUnfinished, ///< still waiting or running when the simulation was stopped
    kImpossible, ///< it fits nowhere, its budget or deadline allows no place (any more), or units broke under it 10 000
                 ///< times
};

/// What became of a job.
struct JobOutcome {
    double start_s{};       ///< of its last attempt
    double end_s{};         ///< from the start on: start-up, data in, run, data out
    double predicted_s{};   ///< how long the policy expected end − start to be; 0: it did not say
    double cost{};          ///< of all attempts
    double energy_j{};      ///< of its units while busy, all attempts
    double demand_unit_s{}; ///< units that all jobs in the network wanted, running and waiting, summed over its stay
    std::uint32_t unit_type{};
    std::int32_t unit_count{};
    std::uint16_t attempts{};
    JobState state = JobState::kUnfinished;
};

/// The network at a moment.
struct SeriesPoint {
    double at_s{};
    std::int64_t waiting_jobs{};
    std::int64_t running_jobs{};
    std::vector<std::int64_t> busy_units; ///< by unit type
};

struct SimulationResult {
    std::vector<JobOutcome> jobs;      ///< of the workload, in its order
    std::vector<SeriesPoint> series;   ///< at most 2000, evenly thinned
    std::vector<double> busy_unit_s;   ///< by unit type, between counted_from_s and counted_to_s; where units are parts
                                       ///< of devices, of these: so are costs, energy and `series`
    std::vector<double> broken_unit_s; ///< the same, units out of order
    double counted_from_s{};           ///< arrival of the first counted job
    double counted_to_s{};             ///< arrival of the last one, or when the simulation was stopped before it
    double end_s{};                    ///< when the last counted job had ended
    std::int64_t decisions{};          ///< how often the policy was asked
    std::int64_t starts{};
    std::int64_t failures{};     ///< attempts that a broken unit ended
    std::int64_t measurements{}; ///< of a job type on a unit type
    std::int64_t most_waiting{};
    bool was_stopped = false; ///< before all counted jobs had ended
    double decide_wall_s{};   ///< real time in the policy; the only figure that differs from run to run
};

struct SimulationProgress {
    double now_s{};
    std::int64_t arrived{};
    std::int64_t ended{};
    std::int64_t waiting{};
};

struct SimulationHooks {
    std::function<void(const SimulationProgress&)> progress; ///< about every thousand moments; may be empty
    const std::atomic<bool>* stop = nullptr;                 ///< set: the simulation ends with what it has
};

/// Simulates until the counted jobs have ended. At one moment ends come before repairs, these before arrivals, and the
/// policy is asked once after all of them. Checked all the time: no unit is used twice, no job lost or run twice, time
/// never runs back, units add up.
/// @error kInvalid   the scenario is not valid: says which job or unit type and why.
/// @error kInternal  a check failed: the policy, or this program, is wrong.
Result<SimulationResult> simulate(const Scenario& scenario, std::string_view policy, std::uint64_t seed,
                                  const SimulationHooks& hooks = {});

/// The same with a policy of the caller's own.
Result<SimulationResult> simulate(const Scenario& scenario, const PolicyMaker& policy, std::uint64_t seed,
                                  const SimulationHooks& hooks = {});

} // namespace fathom::simulation
