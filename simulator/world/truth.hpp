#pragma once

#include "simulator/world/scenario.hpp"

#include <cstdint>
#include <vector>

namespace fathom::simulation {

/// How things really are in one run: rates as they wander, and what chance adds to each run. Every draw is a function
/// of the seed and of what it is for, so that policies meet the same chances whatever they do.
class Truth {
  public:
    /// Keeps the scenario, which must outlive it.
    Truth(const Scenario& scenario, std::uint64_t seed);

    /// Factor of a rate at that time: a random walk in steps of an hour.
    double drift(std::size_t job_type, std::size_t unit_type, double at_s);
    /// Seconds of computing of an attempt of the job, with run_noise.
    double run_s(std::size_t job, std::size_t unit_type, std::int64_t unit_count, std::int64_t attempt, double at_s);

    const Scenario& scenario() const { return *scenario_; }
    std::uint64_t seed() const { return seed_; }

  private:
    struct Walk {
        std::int64_t hour = 0;
        double log_factor = 0;
        std::vector<double> marks; ///< the factor's logarithm at every 64th hour that was passed, to go back to
    };
    const Scenario* scenario_;
    std::uint64_t seed_;
    std::vector<Walk> walks_; ///< by unit type and job type; empty without drift
};

} // namespace fathom::simulation
