#include "cli/simulate/workload_gavel.hpp"

#include "cli/simulate/csv_table.hpp"
#include "cli/simulate/draw.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace fathom {
namespace {

constexpr std::array<std::string_view, 3> kGpus{"k80", "p100", "v100"};
constexpr std::size_t kV100 = 2;
/// Arrivals after the last counted job, as a multiple of its number: the network stays as busy as it was until the
/// counted jobs have ended.
constexpr double kArrivalsBeyond = 1.6;

std::int64_t draw_gpus(Draw& draw)
{
    const double u = draw.uniform();
    return u < 0.70 ? 1 : u < 0.80 ? 2 : u < 0.95 ? 4 : 8;
}

double draw_duration_s(Draw& draw, GavelDurations durations)
{
    if (durations == GavelDurations::kUniform) return 60 * draw.uniform(10, 1000);
    const double u = draw.uniform();
    return 60 * std::pow(10.0, u < 0.8 ? draw.uniform(1.5, 3) : draw.uniform(3, 4));
}

/// One job: what it has to do, and how long that takes with as many GPUs of each kind.
SimulatedJob draw_job(std::span<const GavelJobType> job_types, const GavelWorkload& workload, Draw& draw)
{
    const std::int64_t gpus = workload.has_multiple_gpus ? draw_gpus(draw) : 1;
    const GavelJobType* type = nullptr;
    do {
        type = &job_types[draw.index(job_types.size())];
    } while (!type->steps_per_s[kV100].contains(gpus));
    const double steps = draw_duration_s(draw, workload.durations) * type->steps_per_s[kV100].at(gpus);
    SimulatedJob job;
    for (std::size_t gpu = 0; gpu < kGpus.size(); ++gpu) {
        const auto rate = type->steps_per_s[gpu].find(gpus);
        const double error = std::exp(workload.noise * draw.normal()); // drawn always: noise changes nothing else
        if (rate == type->steps_per_s[gpu].end() || gpus > workload.gpus[gpu]) continue;
        job.options.push_back({gpu, gpus, steps / rate->second, steps / rate->second * error});
    }
    return job;
}

} // namespace

Result<std::vector<GavelJobType>> read_gavel_job_types(std::istream& input)
{
    enum Column : std::size_t { kSource, kGpu, kConsolidated, kModel, kBatchSize, kScaleFactor, kStepsPerS };
    const Result<CsvTable> table =
        CsvTable::read(input, {"source", "gpu", "consolidated", "model", "batch_size", "scale_factor", "steps_per_s"});
    if (!table) return table.error();
    std::map<std::string, GavelJobType> types;
    for (std::size_t row = 0; row < table->size(); ++row) {
        if (table->text(row, kSource) != "sim" || table->text(row, kConsolidated) != "1") continue;
        const auto gpu = std::find(kGpus.begin(), kGpus.end(), table->text(row, kGpu));
        const Result<double> count = table->number(row, kScaleFactor);
        const Result<double> rate = table->number(row, kStepsPerS);
        if (!count) return count.error();
        if (!rate) return rate.error();
        if (gpu == kGpus.end() || *rate <= 0) continue;
        const std::string name = fmt::format("{} {}", table->text(row, kModel), table->text(row, kBatchSize));
        auto& rates = types[name].steps_per_s[static_cast<std::size_t>(gpu - kGpus.begin())];
        rates[static_cast<std::int64_t>(*count)] = *rate;
    }
    std::vector<GavelJobType> result;
    for (auto& [name, type] : types) {
        type.name = name;
        if (type.steps_per_s[kV100].contains(1)) result.push_back(std::move(type));
    }
    if (result.empty()) return Error{Errc::kInvalid, "the file holds no job type that was measured on a V100"};
    return result;
}

SimulatedWorld gavel_world(std::span<const GavelJobType> job_types, const GavelWorkload& workload)
{
    SimulatedWorld world;
    world.name = "gavel";
    for (std::size_t gpu = 0; gpu < kGpus.size(); ++gpu)
        world.unit_types.push_back({std::string(kGpus[gpu]), workload.gpus[gpu]});
    world.first_counted = workload.first_counted;
    world.end_counted = workload.end_counted;
    Draw draw(workload.seed);
    const auto count = static_cast<std::size_t>(kArrivalsBeyond * static_cast<double>(workload.end_counted));
    double now_s = 0;
    for (std::size_t i = 0; i < count; ++i) {
        now_s += draw.exponential(3600 / workload.jobs_per_hour);
        world.jobs.push_back(draw_job(job_types, workload, draw));
        world.jobs.back().arrival_s = now_s;
    }
    return world;
}

} // namespace fathom
