#pragma once

#include "cli/simulate/engine.hpp"
#include "cli/simulate/job_log.hpp"

#include <array>
#include <istream>
#include <map>

/// Compute centers that differ in what they are fast at, from public measurements of twelve machines
/// (github.com/UoB-HPC/performance-portability, MIT licence), and a log's jobs spread over them.
namespace fathom {

/// What a program's speed follows.
enum class ProgramKind { kStream, kCloverLeaf, kTeaLeaf, kDense };
constexpr std::size_t kProgramKinds = 4;

/// Speed of each kind of program by machine, its rate or 1 / time.
using MachineSpeeds = std::map<std::string, std::array<double, kProgramKinds>>;

/// Reads the best programming model's result of each benchmark (`devices`: benchmark, device, value) and the peak for
/// dense programs (`specifications`: device, dp_tflops). Machines that lack one of the four are left out.
/// @error kInvalid  a column is missing or a field is no number; says which line.
Result<MachineSpeeds> read_machine_speeds(std::istream& devices, std::istream& specifications);

/// A center of a network: processors of one machine.
struct CenterOfMachines {
    std::string machine;
    std::int64_t processors{};
};

/// Which part of a log, and how much of what the centers can do it is made to ask for.
struct LogPart {
    std::size_t first_job = 0;
    std::size_t most_jobs = 8000;
    double load = 0.7; ///< core/decide/unit_worth
};

/// A part of a log's jobs at five unlike centers of together 850 processors. A program is of one kind wherever it runs;
/// its logged run time is that on a Skylake. Submissions are moved apart or together evenly until the load is as
/// asked. The middle three fifths of the jobs are counted.
/// @error kInvalid  a center's machine was not measured, or fewer than five jobs are there and fit.
Result<SimulatedWorld> log_on_unlike_centers(const JobLog& log, const MachineSpeeds& speeds, const LogPart& part);

} // namespace fathom
