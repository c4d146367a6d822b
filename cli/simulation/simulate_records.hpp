#pragma once

#include "core/base/json_reader.hpp"
#include "simulator/figures/figures.hpp"
#include "simulator/setup/join_scenario.hpp"

#include <ostream>
#include <span>
#include <string>
#include <vector>

/// What simulations come to, for programs: the same bytes for the same scenario, policies and seeds.
namespace fathom::cli {

/// What was asked for, beside what came of it.
struct SimulatedRuns {
    const simulation::JoinedScenario* joined{};
    std::string format; ///< of the workload
    double load{};
    std::span<const simulation::PolicyRun> runs;
    std::vector<std::string> not_simulated; ///< policies that were to come when it was stopped
    bool is_partial = false;
    bool has_timing = false; ///< with what depends on the machine
};

Json to_json(const SimulatedRuns& simulated);
/// A header, and a row for each policy and seed.
std::string to_csv(const SimulatedRuns& simulated);

/// One row for each job of a run.
void write_jobs_header(std::ostream& out);
void write_jobs(std::ostream& out, const simulation::JoinedScenario& joined, const simulation::PolicyRun& run);

} // namespace fathom::cli
