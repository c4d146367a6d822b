#pragma once

#include "cli/text/console.hpp"
#include "simulator/engine/simulation.hpp"

#include <chrono>
#include <cstddef>
#include <string>

namespace fathom::cli {

/// How far simulations are, on standard error: one line that is written over on a terminal, else a line each half
/// minute, so that long runs say something and short ones nothing. Not thread-safe.
class SimulateProgress {
  public:
    /// @param job_count  that must end, in each run.
    /// @param run_count  runs to come.
    SimulateProgress(Console console, std::size_t job_count, std::size_t run_count);
    ~SimulateProgress();
    SimulateProgress(const SimulateProgress&) = delete;
    SimulateProgress& operator=(const SimulateProgress&) = delete;

    void begin_run(const std::string& name);
    void show(const simulation::SimulationProgress& progress);
    /// Takes the line away, so that others can write.
    void clear();

  private:
    using SteadyTime = std::chrono::steady_clock::time_point;

    Console console_;
    std::size_t job_count_;
    std::size_t run_count_;
    std::size_t run_ = 0;
    std::string name_;
    SteadyTime began_;
    SteadyTime shown_;
    bool has_line_ = false;
};

} // namespace fathom::cli
