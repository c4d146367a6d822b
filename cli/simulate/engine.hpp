#pragma once

#include "core/base/result.hpp"
#include "core/decide/order_jobs.hpp"

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

/// An exact event simulation of unit types and the jobs that wait for them. Pure: no clock, no randomness; the same
/// world and rule give the same result bit for bit.
namespace fathom {

/// A place where a simulated job could run, and how long it really takes there.
struct SimulatedOption {
    std::size_t unit_type{};
    std::int64_t unit_count{1};
    double run_s{};       ///< the truth; positive
    double predicted_s{}; ///< what the rule is told; positive
};

struct SimulatedJob {
    double arrival_s{};
    std::vector<SimulatedOption> options; ///< at least one
    std::int64_t priority = 0;
};

struct SimulatedUnitType {
    std::string name;
    std::int64_t unit_count{};
};

/// A network and its work. Figures are taken over the jobs first_counted … end_counted − 1; the others are there so
/// that these meet a network that is as busy before and after them.
struct SimulatedWorld {
    std::string name;
    std::vector<SimulatedUnitType> unit_types;
    std::vector<SimulatedJob> jobs; ///< by arrival
    std::size_t first_counted{};
    std::size_t end_counted{};
};

/// What a rule sees.
struct SimulatedQueue {
    double now_s{};
    std::span<const WaitingJobView> jobs;
    std::span<const UnitTypeLoad> unit_types; ///< worth and load are left to the rule
    /// Places of the newest arrivals, a thousand at most, as they were predicted, and the time in which they came.
    std::span<const std::vector<JobOption>> arrived;
    double arrived_within_s{};
    std::size_t arrived_count{};         ///< since the beginning
    std::span<const double> used_unit_s; ///< of each unit type since the beginning
};

/// Decides the starts of this moment: order_starts() behind whatever a policy adds.
using StartRule = std::function<std::vector<OrderedStart>(const SimulatedQueue&)>;

/// What became of a job.
struct JobOutcome {
    double start_s{};
    double end_s{};
    std::size_t option{};
    bool has_ended = false;
};

struct SimulationResult {
    std::vector<JobOutcome> outcomes; ///< of each job of the world
    double end_s{};                   ///< when the last counted job ended
    /// Of each unit type: unit-seconds in use from the first counted arrival to the last.
    std::vector<double> busy_unit_s;
    std::int64_t decisions{};    ///< how often the rule was asked
    std::int64_t most_waiting{}; ///< longest queue
};

/// Runs the world until its counted jobs have ended. Jobs are never interrupted. At one moment ends come before
/// arrivals, and the rule is asked once after all of them.
/// @error kInvalid   the world is not sound: times that are not positive and finite, jobs that are not sorted or fit
///                   nowhere, a counted range that is empty.
/// @error kInternal  the rule gave a unit or a job twice, or left counted jobs waiting for ever.
Result<SimulationResult> simulate(const SimulatedWorld& world, const StartRule& rule);

} // namespace fathom
