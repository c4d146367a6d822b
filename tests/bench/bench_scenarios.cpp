#include "tests/bench/bench_scenarios.hpp"

#include "simulator/figures/figures.hpp"
#include "simulator/figures/network_load.hpp"
#include "simulator/setup/join_scenario.hpp"
#include "simulator/workloads/inflated_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace fathom::simulation {
namespace {

constexpr std::uint64_t kLoadSeed = 1001; ///< none of those that are measured with
constexpr std::size_t kPart = 8000;       ///< jobs of a log that one seed gets
constexpr std::size_t kBegins = 5;        ///< of a part, at which seeds begin with it

/// So many jobs of the input from one on.
WorkloadInput part_of(const WorkloadInput& input, std::size_t first, std::size_t count)
{
    WorkloadInput part = input;
    const auto cut = [&](auto& values) {
        const std::size_t begin = std::min(first, values.size());
        const std::size_t end = std::min(begin + count, values.size());
        values.erase(values.begin() + static_cast<std::ptrdiff_t>(end), values.end());
        values.erase(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(begin));
    };
    cut(part.workload.jobs);
    cut(part.lines);
    return part;
}

/// The same jobs, from the one at `first` on; those before come after the last, with the gaps that they had.
WorkloadInput begun_at(WorkloadInput input, std::size_t first)
{
    std::vector<Job>& jobs = input.workload.jobs;
    if (first == 0 || first >= jobs.size()) return input;
    const auto middle = static_cast<std::ptrdiff_t>(first);
    const double gap_s = jobs[first].arrival_s - jobs[first - 1].arrival_s;
    const double length_s = jobs.back().arrival_s - jobs.front().arrival_s + gap_s;
    for (std::size_t i = 0; i < first; ++i)
        jobs[i].arrival_s += length_s;
    std::rotate(jobs.begin(), jobs.begin() + middle, jobs.end());
    std::rotate(input.lines.begin(), input.lines.begin() + middle, input.lines.end());
    return input;
}

Result<CentersFile> read_centers_in(const std::filesystem::path& folder)
{
    Result<std::unique_ptr<InflatedFile>> devices = InflatedFile::open(folder / "devices_2019.csv");
    if (!devices) return devices.error();
    Result<std::unique_ptr<InflatedFile>> specifications = InflatedFile::open(folder / "device_spec_2019.csv");
    if (!specifications) return specifications.error();
    std::istream devices_stream(devices->get());
    std::istream specifications_stream(specifications->get());
    const Result<MachineSpeeds> speeds = read_machine_speeds(devices_stream, specifications_stream);
    if (!speeds) return Error{speeds.error().code, fmt::format("{}: {}", folder.string(), speeds.error().detail)};
    return unlike_centers(*speeds);
}

} // namespace

Result<GavelJobTypes> read_gavel_types(const std::filesystem::path& folder)
{
    const std::filesystem::path path = folder / "gavel" / "solo.csv";
    Result<std::unique_ptr<InflatedFile>> file = InflatedFile::open(path);
    if (!file) return file.error();
    std::istream stream(file->get());
    Result<std::vector<GavelJobType>> types = read_gavel_job_types(stream);
    if (!types) return Error{types.error().code, fmt::format("{}: {}", path.string(), types.error().detail)};
    return std::make_shared<const std::vector<GavelJobType>>(std::move(*types));
}

std::filesystem::path plain_or_compressed(const std::filesystem::path& path)
{
    std::filesystem::path compressed = path;
    compressed += ".gz";
    return !std::filesystem::exists(path) && std::filesystem::exists(compressed) ? compressed : path;
}

Scenario gavel_scenario(const GavelJobTypes& types, const GavelDrawing& drawing, const GpuCounts& gpus,
                        std::size_t first, std::size_t end)
{
    Result<JoinedScenario> joined = join_scenario(gpu_network(*types, gpus), draw_gavel(*types, drawing).value(),
                                                  {.counted = CountedRange{first, end}});
    return std::move(joined.value().scenario);
}

double gavel_load(const GavelJobTypes& types, const GavelDrawing& drawing, const GpuCounts& gpus)
{
    GavelDrawing other = drawing;
    other.seed = kLoadSeed;
    return load_of(gavel_scenario(types, other, gpus, 0, other.job_count));
}

Result<Scenario> middle_counted(const CentersFile& centers, WorkloadInput input, double load)
{
    Result<JoinedScenario> joined = join_scenario(centers, std::move(input));
    if (!joined) return joined.error();
    Scenario& scenario = joined->scenario;
    Workload& workload = scenario.workload;
    workload.first_counted = workload.jobs.size() / 5;
    workload.end_counted = workload.jobs.size() * 4 / 5;
    const double logged = load_of(scenario);
    if (!(logged > 0)) return Error{Errc::kInvalid, "too few jobs are left to have a load"};
    const double begin_s = workload.jobs.front().arrival_s;
    for (Job& job : workload.jobs)
        job.arrival_s = begin_s + (job.arrival_s - begin_s) * (logged / load);
    return std::move(scenario);
}

Result<LogOnUnlikeCenters> LogOnUnlikeCenters::read(const std::filesystem::path& folder)
{
    LogOnUnlikeCenters result;
    Result<CentersFile> centers = read_centers_in(folder / "uob");
    if (!centers) return centers.error();
    result.centers_ = std::move(*centers);
    Result<WorkloadInput> log = read_workload(plain_or_compressed(folder / "swf" / "CTC-SP2-1996-3.1-cln.csv"),
                                              {.format = "swf", .kind_count = kProgramKinds});
    if (!log) return log.error();
    result.log_ = std::make_shared<const WorkloadInput>(std::move(*log));
    return result;
}

std::size_t LogOnUnlikeCenters::parts() const
{
    return std::max<std::size_t>(log_->workload.jobs.size() / kPart, 1);
}

std::size_t LogOnUnlikeCenters::draws() const
{
    return parts() * kBegins;
}

Result<Scenario> LogOnUnlikeCenters::draw(std::uint64_t seed, double load) const
{
    WorkloadInput part = part_of(*log_, (seed - 1) % parts() * kPart, kPart);
    const std::size_t begin = (seed - 1) / parts() % kBegins;
    const std::size_t first = part.workload.jobs.size() * begin / kBegins;
    return middle_counted(centers_, begun_at(std::move(part), first), load);
}

} // namespace fathom::simulation
