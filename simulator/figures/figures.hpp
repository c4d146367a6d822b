#pragma once

#include "simulator/engine/simulation.hpp"

#include <string>
#include <vector>

/// What simulations come to, in figures.
namespace fathom::simulation {

/// Over the counted jobs of one simulation, or a part of them. NaN where there is nothing to take a figure of.
struct Figures {
    std::int64_t jobs{};  ///< counted ones
    std::int64_t ended{}; ///< of these; the figures below are of those that ended
    std::int64_t unfinished{};
    std::int64_t impossible{};
    double mean_completion_s{}; ///< from arrival to end
    double median_completion_s{};
    double p95_completion_s{};
    double p99_completion_s{};
    double mean_wait_s{}; ///< from arrival to the start of the last attempt
    double p95_wait_s{};
    double max_wait_s{};
    /// Completion over the shortest time that the job could have run anywhere, of which less than 10 s count as 10 s;
    /// at least 1 (bounded slowdown: Feitelson et al., JSSPP 1997).
    double mean_slowdown{};
    double p95_slowdown{};
    double max_slowdown{};
    double utilization{};     ///< unit-time in use of all unit-time in order, first counted arrival to last; 0..1
    double cost{};            ///< of all counted jobs, in the network's currency
    double energy_kwh{};      ///< of their units while busy
    double idle_energy_kwh{}; ///< of units without work, first counted arrival to last; of the whole network only
    std::int64_t with_deadline{};
    std::int64_t missed_deadline{}; ///< ended late, or not at all
    std::int64_t failed_attempts{}; ///< ended by broken units
    /// Jain's index over projects of their mean bounded slowdowns: 1 when all fare the same, 1/n when one has it all
    /// (Jain, Chiu, Hawe 1984).
    double jain_projects{};
    double jain_jobs{}; ///< the same over jobs
    /// Finish-time fairness (Themis: Mahajan et al., NSDI 2020): completion over the time that the job would take on
    /// its equal part of the network, all of which had the mean speed for it: mean run time over units × what all jobs
    /// in the network wanted on average during its stay over all units, at least 1. Above 1: it was treated unfairly.
    double mean_finish_time_fairness{};
    double p95_finish_time_fairness{};
    double unfair_share{};     ///< jobs with a value above 1.05
    double prediction_error{}; ///< median of |actual / predicted − 1| where the policy predicted; NaN: it did not
};

/// Of one policy under one seed.
struct PolicyRun {
    std::string policy;
    std::uint64_t seed{};
    SimulationResult result;
    Figures all;
    std::vector<Figures> by_project; ///< index as Workload::projects
    std::vector<Figures> by_center;  ///< of the jobs that ran there; utilization of its units
};

PolicyRun figure_out(const Scenario& scenario, std::string policy, std::uint64_t seed, SimulationResult result);

} // namespace fathom::simulation
