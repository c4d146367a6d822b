#pragma once

#include "cli/simulate/engine.hpp"

#include <array>
#include <istream>
#include <map>

/// The public measurements of deep-learning training on three GPUs (github.com/stanford-futuredata/gavel, MIT licence;
/// Narayanan et al., OSDI 2020), and the synthetic workload that the paper's simulations use.
namespace fathom {

/// How fast a job type trains, by number of GPUs.
struct GavelJobType {
    std::string name;
    std::array<std::map<std::int64_t, double>, 3> steps_per_s; ///< by GPU: K80, P100, V100; by number of GPUs
};

/// Reads `solo.csv`: the authors' simulator table, GPUs on one server.
/// @error kInvalid  a column is missing or a number is none; says which line.
Result<std::vector<GavelJobType>> read_gavel_job_types(std::istream& input);

/// The durations of jobs on one V100.
enum class GavelDurations {
    kPublished, ///< minutes = 10^u, u uniform in 1.5 … 3 with probability 0.8, else in 3 … 4
    kUniform,   ///< uniform in 10 … 1000 minutes
};

struct GavelWorkload {
    std::array<std::int64_t, 3> gpus{36, 36, 36}; ///< K80, P100, V100
    double jobs_per_hour = 5.6;                   ///< Poisson arrivals
    bool has_multiple_gpus = false;               ///< 1, 2, 4, 8 GPUs with probability 0.70, 0.10, 0.15, 0.05; else 1
    GavelDurations durations = GavelDurations::kPublished;
    /// What is known of run times: a prediction is the truth times exp(noise · normal), one draw for each job and GPU.
    double noise = 0;
    std::uint64_t seed = 1;
    std::size_t first_counted = 4000;
    std::size_t end_counted = 5000;
};

/// Draws the workload. Job types are uniform over those measured; where a job wants several GPUs the type is drawn
/// again until it can use them. Arrivals go on past the last counted job.
SimulatedWorld gavel_world(std::span<const GavelJobType> job_types, const GavelWorkload& workload);

} // namespace fathom
