#pragma once

#include "simulator/corun/corun_world.hpp"

#include <cstdint>
#include <istream>
#include <string>
#include <string_view>
#include <vector>

/// Worlds and workloads of shared GPUs: drawn, and from public measurements.
namespace fathom::simulation {

/// How long jobs are, alone.
enum class CorunLengths {
    kHeavyTailed, ///< minutes = 10^u, u uniform in 1.5 … 3 with probability 0.8, else in 3 … 4 (Gavel's)
    kExponential, ///< with a mean of 100 minutes
};

/// Jobs as single stages.
struct CorunDrawing {
    double load{0.9}; ///< of the GPU if used by one job at a time
    std::size_t jobs{400};
    double high_priority_share{0}; ///< of the jobs
    double size_error{0.2};        ///< relative standard deviation (of the logarithm) of what is known of lengths
    CorunLengths lengths{CorunLengths::kHeavyTailed};
    std::uint64_t seed{1};
};

/// Poisson arrivals of jobs whose kind is uniform over the world's. Which of them are of high priority is drawn apart,
/// so that the other numbers stay the same.
CorunWorkload draw_corun_jobs(const CorunWorld& world, const CorunDrawing& drawing);

/// The jobs of high priority alone, as a bound for how fast these can be.
CorunWorkload only_high_priority(const CorunWorkload& workload);

/// A world that is nobody's: each kind needs a share of the GPU's arithmetic and of its memory's bandwidth when alone,
/// and a pair that needs more than there is of one slows down evenly, by that and some chance.
/// @param kinds  a third each compute-intensive, memory-intensive, of unknown class
CorunWorld draw_corun_world(std::size_t kinds, std::uint64_t seed);

/// The measured pairs of deep-learning jobs on one GPU (github.com/stanford-futuredata/gavel, MIT licence; Narayanan et
/// al., OSDI 2020). Nothing is said of classes. A pair of which one does nothing did not fit into the memory.
/// @param gpu        "k80" or "p100"
/// @error kInvalid   a column is missing, a field cannot be read, no pair of that GPU; says which line.
Result<CorunWorld> read_gavel_pairs(std::istream& input, std::string_view gpu);

/// Kernels of deep-learning models as they ran alone (github.com/eth-easl/orion, MIT licence; Strati et al., EuroSys
/// 2024).
struct ProfiledProgram {
    std::string model;
    std::int64_t batch{};
    std::string phase;              ///< "fwd": inference; "fb1": a training step
    std::vector<CorunStage> stages; ///< kind: an index of profiled_kernel_kinds()
};
/// The programs with source "nominal", in the order of the file.
/// @error kInvalid  a column is missing or a field cannot be read; says which line.
Result<std::vector<ProfiledProgram>> read_orion_programs(std::istream& input);

/// Kernels by class and by how much of the GPU's 80 multiprocessors they need. No pair of kernels was measured there; a
/// model stands in for it: a compute-intensive kernel takes the arithmetic of the multiprocessors that it needs and a
/// third as much of the memory's bandwidth, a memory-intensive one the bandwidth and a third of the arithmetic, an
/// unknown one two thirds of both, and what two need beyond the GPU slows both down evenly.
CorunWorld profiled_kernel_world();

/// A program that is nobody's: kernels of any class and size, their durations log-normal.
ProfiledProgram draw_profiled_program(std::size_t kernels, double mean_kernel_s, std::uint64_t seed);

/// Requests for inference, Poisson at `load` of the GPU, of high priority, and beside them one training job that
/// repeats its step for ever.
CorunWorkload draw_inference_beside_training(const ProfiledProgram& inference, const ProfiledProgram& training,
                                             double load, std::size_t requests, std::uint64_t seed);

} // namespace fathom::simulation
