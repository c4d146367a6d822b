#include "simulator/workloads/gavel.hpp"

#include "core/base/portable_math.hpp"
#include "simulator/workloads/csv_lines.hpp"
#include "simulator/workloads/inflated_file.hpp"
#include "simulator/workloads/read_formats.hpp"
#include "simulator/workloads/workload_builder.hpp"
#include "simulator/world/draw.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace fathom::simulation {
namespace {

/// Numbers that each job takes from the generator and leaves unused: errors of prediction were once drawn there, and
/// the workloads are to stay those that figures were published of.
constexpr int kUnusedNumbers = 6;
constexpr std::size_t kUsers = 20; ///< who come in turn; the paper has none
constexpr std::string_view kBatch = " (batch size ";
constexpr double kMaxGpus = 1e6;
constexpr std::array<std::int64_t, 4> kGpuCounts{1, 2, 4, 8};

std::int64_t draw_gpus(Draw& draw)
{
    const double u = draw.uniform();
    return u < 0.70 ? 1 : u < 0.80 ? 2 : u < 0.95 ? 4 : 8;
}

double draw_duration_s(Draw& draw, GavelDurations durations)
{
    if (durations == GavelDurations::kUniform) return 60 * draw.uniform(10, 1000);
    const double u = draw.uniform();
    return 60 * portable::pow(10.0, u < 0.8 ? draw.uniform(1.5, 3) : draw.uniform(3, 4));
}

/// Whether some type was measured on a V100 with so many of them.
bool is_measured(std::span<const GavelJobType> job_types, std::int64_t gpus)
{
    return std::any_of(job_types.begin(), job_types.end(),
                       [&](const GavelJobType& type) { return type.steps_per_s[kV100].contains(gpus); });
}

/// Seconds of one V100 for what so many do in that time.
double work_of(const GavelJobType& type, std::int64_t gpus, double duration_s)
{
    return duration_s * type.steps_per_s[kV100].at(gpus) / type.steps_per_s[kV100].at(1);
}

/// The GPUs that a type was measured on with so many of them; empty: it was on all.
std::vector<std::uint32_t> gpus_for(const GavelJobType& type, std::int64_t gpus, WorkloadBuilder& builder)
{
    std::vector<std::uint32_t> result;
    for (std::size_t gpu = 0; gpu < kGavelGpus.size(); ++gpu) {
        if (type.steps_per_s[gpu].contains(gpus)) result.push_back(builder.unit_type(kGavelGpus[gpu]));
    }
    return result.size() == kGavelGpus.size() ? std::vector<std::uint32_t>{} : result;
}

void declare(std::span<const GavelJobType> job_types, WorkloadBuilder& builder)
{
    for (const std::string_view gpu : kGavelGpus)
        builder.unit_type(gpu);
    builder.input().job_types = to_job_types(job_types);
    builder.input().measured = to_unit_types(job_types);
}

std::string type_name(std::string_view model, std::string_view batch_size)
{
    return batch_size.empty() ? std::string(model) : fmt::format("{} {}", model, batch_size);
}

} // namespace

std::string gavel_type_name(std::string_view name)
{
    const std::size_t begin = name.find(kBatch);
    if (begin == std::string_view::npos || !name.ends_with(')')) return std::string(name);
    const std::string_view batch = name.substr(begin + kBatch.size());
    return fmt::format("{} {}", name.substr(0, begin), batch.substr(0, batch.size() - 1));
}

Result<std::vector<GavelJobType>> read_gavel_job_types(std::istream& input)
{
    enum Column : std::size_t { kSource, kGpu, kConsolidated, kModel, kBatchSize, kScaleFactor, kStepsPerS };
    Result<CsvLines> lines =
        CsvLines::open(input, {"source", "gpu", "consolidated", "model", "batch_size", "scale_factor", "steps_per_s"});
    if (!lines) return lines.error();
    std::map<std::string, GavelJobType> types;
    while (lines->next()) {
        const std::optional<double> count = lines->number(kScaleFactor);
        const std::optional<double> rate = lines->number(kStepsPerS);
        if (lines->excess() != 0 || !count || !rate || !(*count >= 1 && *count <= kMaxGpus))
            return Error{Errc::kInvalid, fmt::format("line {}: expected a training speed", lines->line())};
        const auto gpu = std::find(kGavelGpus.begin(), kGavelGpus.end(), lines->text(kGpu));
        const bool is_used = lines->text(kSource) == "sim" && lines->text(kConsolidated) == "1";
        if (!is_used || gpu == kGavelGpus.end() || *rate <= 0) continue;
        auto& rates = types[type_name(lines->text(kModel), lines->text(kBatchSize))].steps_per_s;
        rates[static_cast<std::size_t>(gpu - kGavelGpus.begin())][static_cast<std::int64_t>(*count)] = *rate;
    }
    std::vector<GavelJobType> result;
    for (auto& [name, type] : types) {
        type.name = name;
        const auto& rates = type.steps_per_s;
        // What one GPU does is what speed-ups are over.
        if (std::all_of(rates.begin(), rates.end(), [](const auto& by_count) { return by_count.contains(1); }))
            result.push_back(std::move(type));
    }
    if (result.empty()) return Error{Errc::kInvalid, "the file holds no job type that was measured on all GPUs"};
    return result;
}

std::vector<JobType> to_job_types(std::span<const GavelJobType> job_types)
{
    std::vector<JobType> result;
    for (const GavelJobType& type : job_types)
        result.push_back({type.name, Scaling::kTable});
    return result;
}

std::vector<MeasuredUnitType> to_unit_types(std::span<const GavelJobType> job_types)
{
    std::vector<MeasuredUnitType> result;
    for (std::size_t gpu = 0; gpu < kGavelGpus.size(); ++gpu) {
        MeasuredUnitType& unit_type = result.emplace_back();
        unit_type.name = kGavelGpus[gpu];
        for (const GavelJobType& type : job_types) {
            UnitTypeRate& rate = unit_type.rates.emplace_back();
            const double one = type.steps_per_s[gpu].at(1);
            rate.rate = one / type.steps_per_s[kV100].at(1);
            for (const auto& [count, steps_per_s] : type.steps_per_s[gpu])
                rate.speedups.push_back({count, steps_per_s / one});
        }
    }
    return result;
}

Result<WorkloadInput> draw_gavel(std::span<const GavelJobType> job_types, const GavelDrawing& drawing)
{
    for (const std::int64_t gpus : kGpuCounts) {
        if ((gpus == 1 || drawing.has_multiple_gpus) && !is_measured(job_types, gpus))
            return Error{Errc::kInvalid, fmt::format("no job type was measured on {} v100", gpus)};
    }
    WorkloadBuilder builder("gavel", "Gavel");
    declare(job_types, builder);
    Draw draw(drawing.seed);
    double now_s = 0;
    for (std::size_t i = 0; i < drawing.job_count; ++i) {
        now_s += draw.exponential(3600 / drawing.jobs_per_hour);
        const std::int64_t gpus = drawing.has_multiple_gpus ? draw_gpus(draw) : 1;
        std::size_t type = 0;
        do {
            type = draw.index(job_types.size());
        } while (!job_types[type].steps_per_s[kV100].contains(gpus));
        LoggedJob job;
        job.line = static_cast<std::int64_t>(i) + 1;
        job.submit_s = now_s;
        job.run_s = work_of(job_types[type], gpus, draw_duration_s(draw, drawing.durations));
        job.units = static_cast<double>(gpus);
        job.job_type = static_cast<std::uint32_t>(type);
        job.details = builder.details_of(gpus_for(job_types[type], gpus, builder));
        job.user = builder.user(fmt::format("user {}", i % kUsers + 1));
        for (int number = 0; number < kUnusedNumbers; ++number)
            draw.uniform();
        builder.add(job);
    }
    return builder.finish();
}

Result<WorkloadInput> read_gavel(std::istream& input, const std::filesystem::path&, const ReadSettings& settings)
{
    const Result<std::vector<GavelJobType>> types = read_gavel_job_types(input);
    if (!types) return types.error();
    if (!(settings.jobs_per_hour > 0)) return Error{Errc::kInvalid, "jobs per hour must be above 0"};
    if (settings.job_count == 0) return Error{Errc::kInvalid, "the number of jobs must be above 0"};
    return draw_gavel(*types, {.jobs_per_hour = settings.jobs_per_hour,
                               .has_multiple_gpus = settings.has_multiple_gpus,
                               .seed = settings.seed,
                               .job_count = settings.job_count});
}

Result<WorkloadInput> read_gavel_trace(std::istream& input, const std::filesystem::path& path,
                                       const ReadSettings& settings)
{
    enum Column : std::size_t { kTrace, kJobType, kSteps, kGpus, kArrival };
    Result<CsvLines> lines = CsvLines::open(input, {"trace", "job_type", "total_steps", "scale_factor", "arrival_s"});
    if (!lines) return lines.error();
    Result<std::unique_ptr<InflatedFile>> table = InflatedFile::open(path.parent_path() / "solo.csv");
    if (!table) return table.error();
    std::istream table_stream(table->get());
    const Result<std::vector<GavelJobType>> types = read_gavel_job_types(table_stream);
    if (!types) return types.error();
    WorkloadBuilder builder("gavel-trace", "Gavel");
    declare(*types, builder);
    std::string part = settings.part;
    while (lines->next()) {
        if (part.empty()) part = lines->text(kTrace);
        if (part != lines->text(kTrace)) continue;
        const std::optional<double> steps = lines->number(kSteps);
        const std::optional<double> gpus = lines->number(kGpus);
        const std::optional<double> arrival_s = lines->number(kArrival);
        const auto type = std::find_if(types->begin(), types->end(), [&](const GavelJobType& known) {
            return known.name == gavel_type_name(lines->text(kJobType));
        });
        if (lines->excess() < 0) {
            builder.skip_unreadable(skip_rule::kTruncated, lines->line(), "as many fields as the header has");
        } else if (!steps || !gpus || !arrival_s) {
            builder.skip_unreadable(skip_rule::kMalformed, lines->line(), "numbers for steps, GPUs and arrival");
        } else if (type == types->end() || !(*gpus >= 1 && *gpus <= kMaxGpus) ||
                   !type->steps_per_s[kV100].contains(static_cast<std::int64_t>(*gpus))) {
            builder.skip("a job type that was not measured with so many GPUs", lines->line());
        } else {
            LoggedJob job;
            job.line = lines->line();
            job.submit_s = *arrival_s;
            job.run_s = *steps / type->steps_per_s[kV100].at(1);
            job.units = *gpus;
            job.job_type = static_cast<std::uint32_t>(type - types->begin());
            job.details = builder.details_of(gpus_for(*type, static_cast<std::int64_t>(*gpus), builder));
            builder.add(job);
        }
    }
    return builder.finish();
}

} // namespace fathom::simulation
