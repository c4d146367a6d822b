#include "core/base/portable_math.hpp"
#include "simulator/workloads/csv_lines.hpp"
#include "simulator/workloads/inflated_file.hpp"
#include "simulator/workloads/read_formats.hpp"
#include "simulator/workloads/workload_builder.hpp"
#include "simulator/world/keyed_draw.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>

namespace fathom::simulation {
namespace {

constexpr double kNotANumber = std::numeric_limits<double>::quiet_NaN();
constexpr double kHour_s = 3600;
constexpr double kMilli = 1000;
/// Units that a GPU of the Alibaba cluster is cut into: pods ask for hundredths.
constexpr double kGpuParts = 100;
constexpr std::string_view kAnyTimes = "numbers for times and counts";

/// Whether the line can be read at all; it is left out where it cannot.
bool is_whole(const CsvLines& lines, WorkloadBuilder& builder)
{
    if (lines.excess() == 0) return true;
    builder.skip_unreadable(lines.excess() < 0 ? skip_rule::kTruncated : skip_rule::kMalformed, lines.line(),
                            "as many fields as the header has");
    return false;
}

/// A field as a number; -1 where it is empty, NaN where it is something else.
double number_of(const CsvLines& lines, std::size_t column)
{
    if (lines.text(column).empty()) return -1;
    return lines.number(column).value_or(kNotANumber);
}

/// The application's class of total GPU time: hours.
struct GpuTimeClass {
    std::string_view app;
    double least_h;
    double most_h;
};
constexpr std::array<GpuTimeClass, 6> kPolluxClasses{{{"imagenet", 100, 1000},
                                                      {"yolov3", 10, 100},
                                                      {"deepspeech2", 1, 10},
                                                      {"bert", 1, 10},
                                                      {"cifar10", 0.1, 1},
                                                      {"ncf", 0.1, 1}}};
constexpr std::uint64_t kPolluxWork = 0x706f6c6c7578; // what uniform_of() is asked for

/// Lists that follow one another: each begins with the hour after the last job of the one before it.
class ListsInARow {
  public:
    double at_s(const std::string& list, double submit_s)
    {
        if (list != list_) {
            list_ = list;
            begin_s_ = std::ceil(latest_s_ / kHour_s) * kHour_s;
        }
        latest_s_ = std::max(latest_s_, begin_s_ + submit_s);
        return begin_s_ + submit_s;
    }

  private:
    std::string list_;
    double begin_s_ = 0;
    double latest_s_ = 0;
};

std::vector<std::uint32_t> models_of(std::string_view allowed, WorkloadBuilder& builder)
{
    std::vector<std::uint32_t> models;
    while (!allowed.empty()) {
        const std::size_t end = std::min(allowed.find('|'), allowed.size());
        if (end > 0) models.push_back(builder.unit_type(allowed.substr(0, end)));
        allowed.remove_prefix(std::min(end + 1, allowed.size()));
    }
    std::sort(models.begin(), models.end());
    models.erase(std::unique(models.begin(), models.end()), models.end());
    return models;
}

constexpr std::string_view kCores = "cpu";
constexpr std::string_view kGpuPod = "gpu_pod";
constexpr std::string_view kCpuPod = "cpu_pod";

} // namespace

Result<WorkloadInput> read_philly(std::istream& input, const std::filesystem::path&, const ReadSettings& settings)
{
    enum Column : std::size_t { kSubmit, kDuration, kGpus, kVirtualCluster, kWeekday, kHour };
    Result<CsvLines> lines = CsvLines::open(input, {"submit_s", "duration_s", "num_gpus", "vc", "?weekday", "?hour"});
    if (!lines) return lines.error();
    WorkloadBuilder builder("philly", "Philly");
    double begin_s = kNotANumber;
    while (lines->next()) {
        if (!is_whole(*lines, builder)) continue;
        LoggedJob job;
        job.line = lines->line();
        job.submit_s = number_of(*lines, kSubmit);
        job.run_s = number_of(*lines, kDuration);
        job.units = number_of(*lines, kGpus);
        if (std::isnan(job.submit_s + job.run_s + job.units)) {
            builder.skip_unreadable(skip_rule::kMalformed, job.line, kAnyTimes);
            continue;
        }
        const double hour_of_week = 24 * number_of(*lines, kWeekday) + number_of(*lines, kHour);
        if (std::isnan(begin_s) && hour_of_week >= 0 && hour_of_week < 168)
            begin_s = hour_of_week * kHour_s - std::fmod(job.submit_s, 168 * kHour_s);
        job.project = builder.project(lines->text(kVirtualCluster));
        job.user = builder.user(lines->text(kVirtualCluster));
        job.job_type = builder.program_type(job.line, settings.kind_count);
        builder.add(job);
    }
    return builder.finish(std::isnan(begin_s) ? 0 : begin_s);
}

Result<WorkloadInput> read_pollux(std::istream& input, const std::filesystem::path&, const ReadSettings& settings)
{
    enum Column : std::size_t { kSubmit, kApp, kReplicas, kSet, kFile, kName };
    Result<CsvLines> lines = CsvLines::open(input, {"submit_s", "app", "num_replicas", "?set", "?file", "?job"});
    if (!lines) return lines.error();
    WorkloadBuilder builder("pollux", "Pollux");
    for (const GpuTimeClass& app : kPolluxClasses)
        builder.job_type(app.app, Scaling::kFixed);
    std::optional<std::string> part;
    if (!settings.part.empty()) part = settings.part;
    ListsInARow row;
    while (lines->next()) {
        if (!is_whole(*lines, builder)) continue;
        const std::string set(lines->text(kSet));
        const std::string list = fmt::format("{}/{}", set, lines->text(kFile));
        if (!part) part = set;
        if (*part != set && *part != list) continue;
        LoggedJob job;
        job.line = lines->line();
        job.submit_s = number_of(*lines, kSubmit);
        job.units = number_of(*lines, kReplicas);
        const auto app = std::find_if(kPolluxClasses.begin(), kPolluxClasses.end(),
                                      [&](const GpuTimeClass& known) { return known.app == lines->text(kApp); });
        if (std::isnan(job.submit_s + job.units)) {
            builder.skip_unreadable(skip_rule::kMalformed, job.line, kAnyTimes);
        } else if (app == kPolluxClasses.end()) {
            builder.skip("an application without a published class of GPU time", job.line);
        } else {
            const double u = uniform_of(settings.seed, kPolluxWork, static_cast<std::uint64_t>(job.line));
            job.run_s =
                kHour_s * app->least_h * portable::pow(app->most_h / app->least_h, u) / std::max(job.units, 1.0);
            if (job.submit_s >= 0) job.submit_s = row.at_s(list, job.submit_s);
            job.job_type = static_cast<std::uint32_t>(app - kPolluxClasses.begin());
            job.project = builder.project(app->app);
            job.user = builder.user(lines->text(kName));
            builder.add(job);
        }
    }
    return builder.finish();
}

Result<WorkloadInput> read_alibaba(std::istream& input, const std::filesystem::path&, const ReadSettings&)
{
    enum Column : std::size_t { kCreation, kScheduled, kDeletion, kGpus, kCpu, kModels, kClass, kShare };
    Result<CsvLines> lines = CsvLines::open(input, {"creation_s", "scheduled_s", "deletion_s", "num_gpu", "cpu_milli",
                                                    "?gpu_spec_33pct", "?qos", "?gpu_milli"});
    if (!lines) return lines.error();
    WorkloadBuilder builder("alibaba2023", "Alibaba 2023");
    const std::uint32_t gpu_pod = builder.job_type(kGpuPod, Scaling::kFixed);
    const std::uint32_t cpu_pod = builder.job_type(kCpuPod, Scaling::kFixed);
    while (lines->next()) {
        if (!is_whole(*lines, builder)) continue;
        LoggedJob job;
        job.line = lines->line();
        job.submit_s = number_of(*lines, kCreation);
        const double scheduled_s = number_of(*lines, kScheduled);
        const double deletion_s = number_of(*lines, kDeletion);
        const double gpus = number_of(*lines, kGpus);
        const double cpu_milli = number_of(*lines, kCpu);
        const double gpu_milli = lines->text(kShare).empty() ? kMilli : number_of(*lines, kShare); // of each GPU
        if (std::isnan(job.submit_s + scheduled_s + deletion_s + gpus + cpu_milli + gpu_milli) || gpu_milli > kMilli) {
            builder.skip_unreadable(skip_rule::kMalformed, job.line, kAnyTimes);
            continue;
        }
        if (scheduled_s >= 0 && deletion_s >= 0) job.run_s = deletion_s - scheduled_s;
        job.units = gpus > 0 ? gpus * std::ceil(gpu_milli * kGpuParts / kMilli) : std::ceil(cpu_milli / kMilli);
        job.job_type = gpus > 0 ? gpu_pod : cpu_pod;
        job.details = builder.details_of(models_of(lines->text(kModels), builder));
        job.project = builder.project(lines->text(kClass));
        builder.add(job);
    }
    return builder.finish();
}

Result<Network> read_alibaba_nodes(const std::filesystem::path& path)
{
    Result<std::unique_ptr<InflatedFile>> file = InflatedFile::open(path);
    if (!file) return file.error();
    std::istream input(file->get());
    enum Column : std::size_t { kCpu, kGpus, kModel };
    Result<CsvLines> lines = CsvLines::open(input, {"cpu_milli", "gpus", "gpu_model"});
    if (!lines) return lines.error();
    std::map<std::string, std::int64_t, std::less<>> units;
    while (lines->next()) {
        const std::optional<double> cpu_milli = lines->number(kCpu);
        const std::optional<double> gpus = lines->number(kGpus);
        if (lines->excess() != 0 || !cpu_milli || !gpus || !(*cpu_milli >= 0 && *cpu_milli < 1e9) ||
            !(*gpus >= 0 && *gpus < 1e6) || *gpus != std::floor(*gpus) || lines->text(kModel) == kCores)
            return Error{Errc::kInvalid, fmt::format("line {}: expected a node's cores and GPUs", lines->line())};
        if (*gpus > 0)
            units[std::string(lines->text(kModel))] += static_cast<std::int64_t>(*gpus * kGpuParts);
        else
            units[std::string(kCores)] += static_cast<std::int64_t>(*cpu_milli / kMilli);
    }
    std::erase_if(units, [](const auto& type) { return type.second == 0; }); // nodes of less than a core
    if (units.empty()) return Error{Errc::kInvalid, "no node has a core or a GPU"};
    Network network;
    network.job_types = {{std::string(kGpuPod), Scaling::kFixed}, {std::string(kCpuPod), Scaling::kFixed}};
    network.centers.emplace_back().name = "alibaba";
    for (const auto& [name, count] : units) {
        UnitType& type = network.unit_types.emplace_back();
        type.name = name;
        type.unit_count = count;
        const bool has_gpus = name != kCores;
        type.rates = {{has_gpus ? 1.0 : 0.0, {}}, {has_gpus ? 0.0 : 1.0, {}}};
    }
    return network;
}

} // namespace fathom::simulation
