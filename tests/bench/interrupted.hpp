#pragma once

#include "simulator/world/scenario.hpp"

#include <cstdint>

/// What it would be worth to interrupt jobs that keep checkpoints, before anybody builds it.
namespace fathom::simulation {

struct Checkpoints {
    double every_s = 1800;    ///< of a job's own work: what was done since the last one is lost
    double restart_s = 120;   ///< a job that was interrupted takes so long to go on
    bool go_elsewhere = true; ///< a job goes on at any center, not only where it was interrupted
};

struct InterruptedRun {
    double mean_completion_s{}; ///< of the counted jobs
    double interruptions{};     ///< for each job
};

/// Simulates the workload as if every job could be interrupted and go on anywhere: whenever one comes or ends, the rule
/// in use (order_starts()) gives all units anew to all jobs that are there, by what is left of each, with every run
/// time known, also of the jobs that are still to come in the shadow prices. So a rule that interrupts gains about as
/// much, or less, for moving a checkpoint costs nothing here. It is no bound: nobody waits here for a better place,
/// since none has a unit for sure. For scenarios without data, closures, prices and broken units.
InterruptedRun run_interrupted(const Scenario& scenario, const Checkpoints& checkpoints, std::uint64_t seed);

} // namespace fathom::simulation
