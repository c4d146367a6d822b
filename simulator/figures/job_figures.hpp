#pragma once

#include "simulator/engine/simulation.hpp"
#include "simulator/world/job_kinds.hpp"

#include <cstdint>

namespace fathom::simulation {

/// Figures of one job that ended; what they are: Figures.
struct JobFigures {
    std::uint32_t project{};
    double completion_s{};
    double wait_s{};
    double slowdown{};
    double fairness{}; ///< finish-time fairness; NaN for a job without work
};

/// Takes the figures of single jobs. Not thread-safe.
class JobFigurer {
  public:
    /// Keeps the scenario, which must outlive it.
    explicit JobFigurer(const Scenario& scenario);

    JobFigures of(const Job& job, const JobOutcome& outcome);
    /// How long it would run at the fastest place.
    double shortest_s(const Job& job);

  private:
    JobKinds kinds_;
    double units_{};
};

} // namespace fathom::simulation
