#pragma once

#include "simulator/workloads/gavel.hpp"
#include "simulator/world/centers_file.hpp"

#include <array>
#include <istream>
#include <map>
#include <span>
#include <string>

/// The compute networks of the benchmarks: clusters of three GPUs, and centers that differ in what they are fast at.
namespace fathom::simulation {

/// GPUs of each kind: K80, P100, V100.
using GpuCounts = std::array<std::int64_t, 3>;

/// Three centers of one kind of GPU each, with Gavel's job types at their measured speeds. Data sheets: 4.37, 10.6 and
/// 15.7 TFLOPS in single precision, of one of a K80's two GPUs, a P100 and a V100 (NVIDIA). The benchmark that all have
/// run is the training of ResNet-50 with batches of 64.
CentersFile gpu_network(std::span<const GavelJobType> job_types, const GpuCounts& gpus);

/// The same with job types that are known by what they resemble: each as fast as one GPU trains the job type `like`,
/// on as many GPUs as it asks for; times in its workload are those on P100s. `like` are names of Gavel's job types.
/// @error kNotFound  there is no such job type.
Result<CentersFile> gpu_network_like(std::span<const GavelJobType> job_types, const GpuCounts& gpus,
                                     const std::vector<std::pair<std::string, std::string>>& names_and_like);

/// What a program's speed follows, by job type: a STREAM-type benchmark, CloverLeaf, TeaLeaf, or dense arithmetic.
enum ProgramKind : std::size_t { kStream, kCloverLeaf, kTeaLeaf, kDense, kProgramKinds };

/// Speed of each kind of program by machine, its rate or 1 / time.
using MachineSpeeds = std::map<std::string, std::array<double, kProgramKinds>>;

/// Reads public measurements of twelve machines (github.com/UoB-HPC/performance-portability, MIT licence): the best
/// programming model's result of each benchmark (`devices`: benchmark, device, value), and the peak for dense programs
/// (`specifications`: device, dp_tflops). Machines that lack one of the four are left out.
/// @error kInvalid  a column is missing or a field is no number; says which line.
Result<MachineSpeeds> read_machine_speeds(std::istream& devices, std::istream& specifications);

/// Five unlike centers of together 850 processors. The job types program_1 to program_4 are the kinds of programs;
/// their times are those on a Skylake. Data sheets tell the peak, and the benchmark that all have run is the
/// STREAM-type one.
/// @error kInvalid  a center's machine was not measured.
Result<CentersFile> unlike_centers(const MachineSpeeds& speeds);

} // namespace fathom::simulation
