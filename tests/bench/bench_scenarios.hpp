#pragma once

#include "tests/bench/bench_networks.hpp"

#include <filesystem>
#include <memory>

/// The scenarios that several benchmarks are made of.
namespace fathom::simulation {

using GavelJobTypes = std::shared_ptr<const std::vector<GavelJobType>>;

/// Reads gavel/solo.csv of a folder with the public sets.
/// @error kNotFound  it is missing.
/// @error kInvalid   it cannot be read; says where.
Result<GavelJobTypes> read_gavel_types(const std::filesystem::path& folder);

/// The path, or with .gz behind it where there is only that.
std::filesystem::path plain_or_compressed(const std::filesystem::path& path);

/// The synthetic workload on a cluster of three GPUs; the jobs first … end − 1 are counted.
Scenario gavel_scenario(const GavelJobTypes& types, const GavelDrawing& drawing, const GpuCounts& gpus,
                        std::size_t first, std::size_t end);

/// Load of all jobs of such a scenario, drawn with a seed that no measurement has.
double gavel_load(const GavelJobTypes& types, const GavelDrawing& drawing, const GpuCounts& gpus);

/// Jobs in a network, the middle three fifths counted; arrivals are stretched until these make that load.
/// @error kInvalid  as join_scenario(), or too few jobs are left.
Result<Scenario> middle_counted(const CentersFile& centers, WorkloadInput input, double load);

/// The log of CTC-SP2 on five unlike centers. Each seed has a part of its own, as far as the log is long enough;
/// further ones have the parts again, begun at another job: where a part is short, what is counted of it differs from
/// begin to begin by more than policies do.
class LogOnUnlikeCenters {
  public:
    /// Reads swf/CTC-SP2-1996-3.1-cln.csv and uob/ of a folder with the public sets.
    /// @error kNotFound  a file is missing.
    /// @error kInvalid   one cannot be read; says where.
    static Result<LogOnUnlikeCenters> read(const std::filesystem::path& folder);

    std::size_t draws() const; ///< seeds that differ
    /// @error kInvalid  too few jobs are left.
    Result<Scenario> draw(std::uint64_t seed, double load) const;

  private:
    std::size_t parts() const;

    CentersFile centers_;
    std::shared_ptr<const WorkloadInput> log_;
};

} // namespace fathom::simulation
