#include "tests/bench/ordering_worlds.hpp"

#include "cli/simulate/world_load.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>

namespace fathom {
namespace {

constexpr std::uint64_t kLoadSeed = 1001; ///< none of those that are measured with
constexpr std::size_t kHeap = 600;        ///< jobs that come at once

using JobTypes = std::shared_ptr<const std::vector<GavelJobType>>;

/// The arrival rate at which this workload has the load.
double rate_for(double load, const JobTypes& types, GavelWorkload workload)
{
    workload.seed = kLoadSeed;
    return workload.jobs_per_hour * load / load_of(gavel_world(*types, workload));
}

OrderingWorld gavel_at(std::string name, double load, const JobTypes& types, GavelWorkload workload)
{
    workload.jobs_per_hour = rate_for(load, types, workload);
    return {fmt::format("{}, load {}", name, load), [types, workload](std::uint64_t seed) mutable {
                workload.seed = seed;
                return gavel_world(*types, workload);
            }};
}

/// All jobs come at once, and no more: here it shows what deciding together is worth.
OrderingWorld heap(const JobTypes& types)
{
    GavelWorkload workload;
    workload.first_counted = 0;
    workload.end_counted = kHeap;
    return {fmt::format("{} jobs at once", kHeap), [types, workload](std::uint64_t seed) mutable {
                workload.seed = seed;
                SimulatedWorld world = gavel_world(*types, workload);
                world.jobs.resize(kHeap);
                for (SimulatedJob& job : world.jobs)
                    job.arrival_s = 0;
                return world;
            }};
}

void add_gavel_worlds(const JobTypes& types, std::vector<OrderingWorld>& worlds)
{
    GavelWorkload published;
    worlds.push_back({"36+36+36, 5.6 jobs/h", [types, published](std::uint64_t seed) mutable {
                          published.seed = seed;
                          return gavel_world(*types, published);
                      }});
    worlds.back().is_reference = true;
    for (const double load : {0.5, 0.7, 0.85, 0.95, 1.1})
        worlds.push_back(gavel_at("36+36+36", load, types, published));
    GavelWorkload other = published;
    other.gpus = {10, 50, 48};
    worlds.push_back(gavel_at("10+50+48", 0.85, types, other));
    other.gpus = {60, 20, 8};
    worlds.push_back(gavel_at("60+20+8", 0.85, types, other));
    GavelWorkload noisy = published;
    noisy.noise = 0.2;
    worlds.push_back(gavel_at("predictions +-20 %", 0.85, types, noisy));
    noisy.noise = 0.5;
    worlds.push_back(gavel_at("predictions +-50 %", 0.85, types, noisy));
    GavelWorkload several = published;
    several.has_multiple_gpus = true;
    worlds.push_back(gavel_at("1 to 8 GPUs", 0.7, types, several));
    worlds.push_back(gavel_at("1 to 8 GPUs", 0.9, types, several));
    GavelWorkload uniform = published;
    uniform.durations = GavelDurations::kUniform;
    worlds.push_back(gavel_at("uniform durations", 0.9, types, uniform));
    worlds.push_back(heap(types));
}

Result<void> add_log_worlds(const OrderingData& data, std::vector<OrderingWorld>& worlds)
{
    std::ifstream log_file(data.log);
    const Result<JobLog> log = read_job_log(log_file);
    if (!log) return Error{Errc::kInvalid, data.log + ": " + describe(log.error())};
    std::ifstream devices(data.devices);
    std::ifstream specifications(data.specifications);
    const Result<MachineSpeeds> speeds = read_machine_speeds(devices, specifications);
    if (!speeds) return Error{Errc::kInvalid, data.devices + ": " + describe(speeds.error())};
    for (const double load : {0.7, 0.9}) {
        // Each seed has a part of the log of its own, as far as it is long enough.
        const std::size_t parts = std::max<std::size_t>(log->jobs.size() / LogPart{}.most_jobs, 1);
        const auto draw = [log = *log, speeds = *speeds, load, parts](std::uint64_t seed) {
            LogPart part;
            part.first_job = (seed - 1) % parts * part.most_jobs;
            part.load = load;
            return log_on_unlike_centers(log, speeds, part).value();
        };
        draw(1); // fails here, not in the middle of the benchmark
        worlds.push_back({fmt::format("CTC-SP2 on 5 centers, load {}", load), draw, parts});
    }
    return {};
}

} // namespace

Result<std::vector<OrderingWorld>> ordering_worlds(const OrderingData& data)
{
    std::ifstream gavel(data.gavel);
    Result<std::vector<GavelJobType>> types = read_gavel_job_types(gavel);
    if (!types) return Error{Errc::kInvalid, data.gavel + ": " + describe(types.error())};
    std::vector<OrderingWorld> worlds;
    add_gavel_worlds(std::make_shared<const std::vector<GavelJobType>>(std::move(*types)), worlds);
    if (Result<void> added = add_log_worlds(data, worlds); !added) return added.error();
    return worlds;
}

} // namespace fathom
