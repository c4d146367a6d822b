#pragma once

#include "core/base/result.hpp"
#include "simulator/world/scenario.hpp"

#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

/// Workloads from files: logs of batch systems and public sets of measurements.
namespace fathom::simulation {

/// How a kind of unit does the job types of an input, where the input tells.
struct MeasuredUnitType {
    std::string name;
    std::vector<UnitTypeRate> rates; ///< by WorkloadInput::job_types
};

/// What was read. Job types, unit types and centers are numbered by the lists here; a network that the jobs are put
/// into knows them by their names.
struct WorkloadInput {
    Workload workload; ///< all jobs are counted ones
    std::vector<JobType> job_types;
    std::vector<InputSkips> skips;
    std::string format;
    std::vector<std::string> unit_types; ///< that JobDetails::unit_types ask for
    std::vector<std::string> centers;    ///< that JobDetails::center asks for
    std::vector<MeasuredUnitType> measured;
    std::vector<std::int64_t> lines; ///< of each job in the file, counted from 1
};

/// What a file does not say.
struct ReadSettings {
    std::string format{};         ///< a name of workload_formats(); empty: as the file looks
    std::uint64_t seed = 1;       ///< of what is drawn: work of `pollux`, all of `gavel`
    std::size_t kind_count = 4;   ///< of `swf` and `philly`: so many job types, over which programs are spread
    std::string part{};           ///< of `pollux` and `gavel-trace`: the job list of this name; empty: see there
    double jobs_per_hour = 5.6;   ///< of `gavel`: Poisson arrivals
    bool has_multiple_gpus{};     ///< of `gavel`: 1, 2, 4, 8 GPUs with probability 0.70, 0.10, 0.15, 0.05; else 1
    std::size_t job_count = 8000; ///< of `gavel`
};

struct WorkloadFormat {
    std::string_view name;
    std::string_view title; ///< for people
};
/// All that can be read.
std::span<const WorkloadFormat> workload_formats();

/// Reads a workload, line by line; a path that is compressed with gzip is inflated. Lines that cannot be used are left
/// out by a rule with a name, and counted; jobs that are not by time are sorted, and counted, too.
/// @error kNotFound  the file cannot be opened.
/// @error kInvalid   it is of no format, or not of the one that is named: says which line, and what was expected there.
Result<WorkloadInput> read_workload(const std::filesystem::path& path, const ReadSettings& settings = {});

} // namespace fathom::simulation
