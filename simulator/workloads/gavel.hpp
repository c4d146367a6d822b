#pragma once

#include "simulator/workloads/read_workload.hpp"

#include <array>
#include <istream>
#include <map>
#include <span>

/// The public measurements of deep-learning training on three GPUs (github.com/stanford-futuredata/gavel, MIT licence;
/// Narayanan et al., OSDI 2020), and the synthetic workload that the paper's simulations use.
namespace fathom::simulation {

/// How fast a job type trains, by number of GPUs.
struct GavelJobType {
    std::string name;                                          ///< model and batch size: "ResNet-50 64"
    std::array<std::map<std::int64_t, double>, 3> steps_per_s; ///< by GPU: K80, P100, V100; by number of GPUs
};
inline constexpr std::array<std::string_view, 3> kGavelGpus{"k80", "p100", "v100"};
inline constexpr std::size_t kV100 = 2; ///< what work is counted on: one of these does 1 a second

/// A job type as this reader calls it, of a name as the public set writes it: "ResNet-50 64" for "ResNet-50 (batch size
/// 64)"; others stay as they are.
std::string gavel_type_name(std::string_view name);

/// Reads `solo.csv`: the authors' simulator table, GPUs on one server.
/// @error kInvalid  a column is missing or a field cannot be read; says which line.
Result<std::vector<GavelJobType>> read_gavel_job_types(std::istream& input);

/// The durations of jobs on V100s.
enum class GavelDurations {
    kPublished, ///< minutes = 10^u, u uniform in 1.5 … 3 with probability 0.8, else in 3 … 4
    kUniform,   ///< uniform in 10 … 1000 minutes
};

/// The synthetic workload.
struct GavelDrawing {
    double jobs_per_hour = 5.6;     ///< Poisson arrivals
    bool has_multiple_gpus = false; ///< 1, 2, 4, 8 GPUs with probability 0.70, 0.10, 0.15, 0.05; else 1
    GavelDurations durations = GavelDurations::kPublished;
    std::uint64_t seed = 1;
    std::size_t job_count = 8000;
};

/// Draws it. Job types are uniform over those measured; where a job wants several GPUs the type is drawn again until it
/// can use them. A job's work is its steps, in seconds of one V100; it runs on the GPUs that were measured with as
/// many. Twenty users come in turn, of whom the paper says nothing.
/// @error kInvalid  no type was measured on as many GPUs as are asked for, or the first job comes after 100 years.
Result<WorkloadInput> draw_gavel(std::span<const GavelJobType> job_types, const GavelDrawing& drawing);

/// The job types, and how fast each GPU does them, as an input has them.
std::vector<JobType> to_job_types(std::span<const GavelJobType> job_types);
std::vector<MeasuredUnitType> to_unit_types(std::span<const GavelJobType> job_types);

} // namespace fathom::simulation
