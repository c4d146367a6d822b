#include "tests/bench/policies_worlds.hpp"

#include "cli/simulate/figures.hpp"
#include "cli/simulate/inflated_file.hpp"
#include "cli/simulate/join_scenario.hpp"
#include "tests/bench/bench_networks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>

namespace fathom::simulation {
namespace {

constexpr std::uint64_t kLoadSeed = 1001; ///< none of those that are measured with
constexpr std::size_t kLogPart = 8000;    ///< jobs of the CTC log that one seed gets

using GavelJobTypes = std::shared_ptr<const std::vector<GavelJobType>>;

/// Errors of predictions as tests/bench/prediction measured them: half of all jobs within 10.6 %.
KnowledgeSettings measured_knowledge()
{
    KnowledgeSettings knowledge;
    knowledge.job_noise = 0.157;
    knowledge.measurement_noise = 0.04;
    knowledge.report_every_s = 10;
    return knowledge;
}

std::filesystem::path existing(const std::filesystem::path& path)
{
    std::filesystem::path compressed = path;
    compressed += ".gz";
    return !std::filesystem::exists(path) && std::filesystem::exists(compressed) ? compressed : path;
}

/// The jobs in the network, the middle three fifths counted, with the load that is asked for.
Result<Scenario> middle_counted(const CentersFile& centers, WorkloadInput input, double load)
{
    Result<JoinedScenario> joined = join_scenario(centers, std::move(input), {.load = load});
    if (!joined) return joined.error();
    Workload& workload = joined->scenario.workload;
    workload.first_counted = workload.jobs.size() / 5;
    workload.end_counted = workload.jobs.size() * 4 / 5;
    joined->scenario.knowledge = measured_knowledge();
    return std::move(joined->scenario);
}

/// A world whose draws were tried once, so that they do not fail in the middle of the benchmark.
Result<PolicyWorld> tried(PolicyWorld world, const std::function<Result<Scenario>(std::uint64_t)>& draw)
{
    if (const Result<Scenario> first = draw(1); !first)
        return Error{first.error().code, fmt::format("{}: {}", world.name, first.error().detail)};
    world.draw = [draw](std::uint64_t seed) { return draw(seed).value(); };
    return world;
}

// --- Gavel's cluster and synthetic workload

Scenario gavel_scenario(const GavelJobTypes& types, const GavelDrawing& drawing, std::size_t first, std::size_t end)
{
    const CentersFile network = gpu_network(*types, {36, 36, 36});
    JoinedScenario joined =
        join_scenario(network, draw_gavel(*types, drawing), {.counted = CountedRange{first, end}}).value();
    joined.scenario.knowledge = measured_knowledge();
    return std::move(joined.scenario);
}

double load_at(const GavelJobTypes& types, GavelDrawing drawing)
{
    drawing.seed = kLoadSeed;
    return load_of(gavel_scenario(types, drawing, 0, drawing.job_count));
}

PolicyWorld gavel_world(std::string name, const GavelJobTypes& types, GavelDrawing drawing)
{
    PolicyWorld world;
    world.load = load_at(types, drawing);
    world.name = fmt::format("{}, load {:.2f}", name, world.load);
    world.draw = [types, drawing](std::uint64_t seed) mutable {
        drawing.seed = seed;
        return gavel_scenario(types, drawing, 4000, 5000);
    };
    return world;
}

void add_gavel_worlds(const GavelJobTypes& types, bool is_quick, std::vector<PolicyWorld>& worlds)
{
    const GavelDrawing published;
    worlds.push_back(gavel_world("Gavel 36+36+36, 5.6 jobs/h", types, published));
    worlds.back().is_reference = true;
    const std::vector<double> loads = is_quick ? std::vector{0.85} : std::vector{0.5, 0.7, 0.85, 0.95};
    for (const bool has_multiple_gpus : {false, true}) {
        GavelDrawing drawing = published;
        drawing.has_multiple_gpus = has_multiple_gpus;
        const double load_per_rate = load_at(types, drawing) / drawing.jobs_per_hour;
        for (const double load : loads) {
            drawing.jobs_per_hour = load / load_per_rate;
            worlds.push_back(
                gavel_world(fmt::format("Gavel 36+36+36, {} GPU{}, {:.1f} jobs/h", has_multiple_gpus ? "1 to 8" : "1",
                                        has_multiple_gpus ? "s" : "", drawing.jobs_per_hour),
                            types, drawing));
        }
    }
}

// --- CTC-SP2 on unlike centers

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

Result<CentersFile> read_unlike_centers(const std::filesystem::path& folder)
{
    Result<std::unique_ptr<InflatedFile>> devices = InflatedFile::open(folder / "devices_2019.csv");
    if (!devices) return devices.error();
    Result<std::unique_ptr<InflatedFile>> specifications = InflatedFile::open(folder / "device_spec_2019.csv");
    if (!specifications) return specifications.error();
    std::istream devices_stream(devices->get());
    std::istream specifications_stream(specifications->get());
    const Result<MachineSpeeds> speeds = read_machine_speeds(devices_stream, specifications_stream);
    if (!speeds) return speeds.error();
    return unlike_centers(*speeds);
}

Result<void> add_log_worlds(const std::filesystem::path& folder, bool is_quick, std::vector<PolicyWorld>& worlds)
{
    const Result<CentersFile> centers = read_unlike_centers(folder / "uob");
    if (!centers) return centers.error();
    const Result<WorkloadInput> log =
        read_workload(existing(folder / "swf" / "CTC-SP2-1996-3.1-cln.csv"), {.format = "swf"});
    if (!log) return log.error();
    const auto shared_log = std::make_shared<const WorkloadInput>(*log);
    const std::size_t parts = std::max<std::size_t>(log->workload.jobs.size() / kLogPart, 1);
    const auto add = [&](double load, bool trusts_estimates) -> Result<void> {
        const auto draw = [centers = *centers, shared_log, parts, load,
                           trusts_estimates](std::uint64_t seed) -> Result<Scenario> {
            Result<Scenario> scenario =
                middle_counted(centers, part_of(*shared_log, (seed - 1) % parts * kLogPart, kLogPart), load);
            if (scenario) scenario->knowledge.trusts_estimates = trusts_estimates;
            return scenario;
        };
        PolicyWorld world;
        world.name = fmt::format("CTC-SP2 on 5 unlike centers, load {:.2f}{}", load,
                                 trusts_estimates ? ", work known by the user's estimate only" : "");
        world.load = load;
        world.most_seeds = parts;
        world.is_extra = trusts_estimates;
        Result<PolicyWorld> added = tried(std::move(world), draw);
        if (!added) return added.error();
        worlds.push_back(std::move(*added));
        return {};
    };
    for (const double load : is_quick ? std::vector{0.85} : std::vector{0.5, 0.7, 0.85, 0.95}) {
        if (const Result<void> added = add(load, false); !added) return added.error();
    }
    return add(0.85, true);
}

// --- Pollux's lists and Philly's jobs on mixed GPUs

/// The job types of Pollux's applications, and of Gavel's those that compute most alike: the same networks where there
/// are such (ResNet, recommendation by factors), a transformer for BERT, a recurrent network for DeepSpeech2, and the
/// largest convolutional one for YOLOv3.
const std::vector<std::pair<std::string, std::string>> kPolluxLikeGavel{
    {"imagenet", "ResNet-50 64"}, {"yolov3", "CycleGAN"},       {"deepspeech2", "LM 20"},
    {"bert", "Transformer 64"},   {"cifar10", "ResNet-18 128"}, {"ncf", "Recommendation 2048"}};

Result<void> add_pollux_worlds(const std::filesystem::path& folder, const GavelJobTypes& types, bool is_quick,
                               std::vector<PolicyWorld>& worlds)
{
    struct Set {
        std::string part;
        std::string title;
        GpuCounts gpus;
    };
    const std::vector<Set> sets{{"pollux_workloads", "tuned replicas, 48+48+48", {48, 48, 48}},
                                {"pollux_workloads-realistic", "users' replicas, 36+36+36", {36, 36, 36}}};
    const std::filesystem::path path = existing(folder / "pollux" / "workloads.csv");
    for (const Set& set : sets) {
        const Result<CentersFile> network = gpu_network_like(*types, set.gpus, kPolluxLikeGavel);
        if (!network) return network.error();
        for (const double load : is_quick ? std::vector{0.85} : std::vector{0.7, 0.85}) {
            const auto draw = [network = *network, path, part = set.part,
                               load](std::uint64_t seed) -> Result<Scenario> {
                Result<WorkloadInput> input = read_workload(path, {.format = "pollux", .seed = seed, .part = part});
                if (!input) return input.error();
                return middle_counted(network, std::move(*input), load);
            };
            PolicyWorld world;
            world.name = fmt::format("Pollux, {}, load {:.2f}", set.title, load);
            world.load = load;
            Result<PolicyWorld> added = tried(std::move(world), draw);
            if (!added) return added.error();
            worlds.push_back(std::move(*added));
        }
    }
    return {};
}

/// The log does not say what jobs compute: each gets one of Gavel's job types by a hash of its place in the log.
Result<void> add_philly_worlds(const std::filesystem::path& folder, const GavelJobTypes& types, bool is_quick,
                               std::vector<PolicyWorld>& worlds)
{
    std::vector<std::pair<std::string, std::string>> like;
    for (const GavelJobType& type : *types)
        like.emplace_back(fmt::format("program_{}", like.size() + 1), type.name);
    const Result<CentersFile> network = gpu_network_like(*types, {200, 200, 200}, like);
    if (!network) return network.error();
    Result<WorkloadInput> input = read_workload(existing(folder / "philly" / "jobs_first_half.csv"),
                                                {.format = "philly", .kind_count = types->size()});
    if (!input) return input.error();
    const auto shared = std::make_shared<const WorkloadInput>(std::move(*input));
    for (const double load : is_quick ? std::vector{0.85} : std::vector{0.7, 0.85}) {
        const auto draw = [network = *network, shared, load](std::uint64_t) {
            return middle_counted(network, *shared, load);
        };
        PolicyWorld world;
        world.name = fmt::format("Philly's first half on 200+200+200, load {:.2f}", load);
        world.load = load;
        world.most_seeds = 1;
        Result<PolicyWorld> added = tried(std::move(world), draw);
        if (!added) return added.error();
        worlds.push_back(std::move(*added));
    }
    return {};
}

} // namespace

Result<std::vector<PolicyWorld>> policy_worlds(const std::filesystem::path& folder, bool is_quick)
{
    Result<std::unique_ptr<InflatedFile>> table = InflatedFile::open(folder / "gavel" / "solo.csv");
    if (!table) return table.error();
    std::istream stream(table->get());
    Result<std::vector<GavelJobType>> read = read_gavel_job_types(stream);
    if (!read) return read.error();
    const auto types = std::make_shared<const std::vector<GavelJobType>>(std::move(*read));
    std::vector<PolicyWorld> worlds;
    add_gavel_worlds(types, is_quick, worlds);
    if (const Result<void> added = add_log_worlds(folder, is_quick, worlds); !added) return added.error();
    if (const Result<void> added = add_pollux_worlds(folder, types, is_quick, worlds); !added) return added.error();
    if (const Result<void> added = add_philly_worlds(folder, types, is_quick, worlds); !added) return added.error();
    return worlds;
}

} // namespace fathom::simulation
