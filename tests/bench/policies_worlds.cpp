#include "tests/bench/policies_worlds.hpp"

#include "tests/bench/bench_scenarios.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

namespace fathom::simulation {
namespace {

const GpuCounts kPublished{36, 36, 36};
constexpr std::uint64_t kLoadSeed = 1001; ///< none of those that are measured with
constexpr std::uint64_t kPolluxRounds = 8;
constexpr double kHour_s = 3600;
constexpr std::string_view kNoEstimates = "known: speeds by measurement, work with errors of 16 % (Fathom); speeds by "
                                          "data sheets, work with errors of 16 % (naive)";
constexpr std::string_view kEstimatesForNaive =
    "known: speeds by measurement, work with errors of 16 % (Fathom); speeds by data sheets, work by users' estimates "
    "(naive)";
constexpr std::string_view kEstimatesForAll =
    "known: speeds by measurement, work by users' estimates, both corrected by what jobs took (Fathom); speeds by data "
    "sheets, work by users' estimates (naive)";

/// Errors of predictions as tests/bench/prediction measured them: half of all jobs within 10.6 %.
KnowledgeSettings measured_knowledge()
{
    KnowledgeSettings knowledge;
    knowledge.job_noise = 0.157;
    knowledge.measurement_noise = 0.04;
    knowledge.report_every_s = 10;
    return knowledge;
}

Result<Scenario> with_errors(Result<Scenario> scenario)
{
    if (scenario) scenario->knowledge = measured_knowledge();
    return scenario;
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

PolicyWorld gavel_world(std::string name, const GavelJobTypes& types, GavelDrawing drawing)
{
    PolicyWorld world;
    world.known = kNoEstimates;
    world.load = gavel_load(types, drawing, kPublished);
    world.name = fmt::format("{}, load {:.2f}", name, world.load);
    world.draw = [types, drawing](std::uint64_t seed) mutable {
        drawing.seed = seed;
        Scenario scenario = gavel_scenario(types, drawing, kPublished, 4000, 5000);
        scenario.knowledge = measured_knowledge();
        return scenario;
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
        const double load_per_rate = gavel_load(types, drawing, kPublished) / drawing.jobs_per_hour;
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

Result<void> add_log_worlds(const std::filesystem::path& folder, bool is_quick, std::vector<PolicyWorld>& worlds)
{
    const Result<LogOnUnlikeCenters> log = LogOnUnlikeCenters::read(folder);
    if (!log) return log.error();
    const auto add = [&](double load, bool trusts_estimates) -> Result<void> {
        const auto draw = [log = *log, load, trusts_estimates](std::uint64_t seed) -> Result<Scenario> {
            Result<Scenario> scenario = with_errors(log.draw(seed, load));
            if (scenario) scenario->knowledge.trusts_estimates = trusts_estimates;
            return scenario;
        };
        PolicyWorld world;
        world.name = fmt::format("CTC-SP2 on 5 unlike centers, load {:.2f}{}", load,
                                 trusts_estimates ? ", work known by users' estimates only" : "");
        world.knowledge = trusts_estimates ? WorkKnowledge::kEstimate : WorkKnowledge::kProfile;
        world.known = trusts_estimates ? kEstimatesForAll : kEstimatesForNaive;
        world.load = load;
        world.most_seeds = log->draws();
        Result<PolicyWorld> added = tried(std::move(world), draw);
        if (!added) return added.error();
        worlds.push_back(std::move(*added));
        return {};
    };
    for (const bool trusts_estimates : {false, true}) {
        for (const double load : is_quick ? std::vector{0.85} : std::vector{0.5, 0.7, 0.85, 0.95}) {
            if (const Result<void> added = add(load, trusts_estimates); !added) return added.error();
        }
    }
    return {};
}

// --- Pollux's lists and Philly's jobs on mixed GPUs

/// The job types of Pollux's applications, and of Gavel's those that compute most alike: the same networks where there
/// are such (ResNet, recommendation by factors), a transformer for BERT, a recurrent network for DeepSpeech2, and the
/// largest convolutional one for YOLOv3.
const std::vector<std::pair<std::string, std::string>> kPolluxLikeGavel{
    {"imagenet", "ResNet-50 64"}, {"yolov3", "CycleGAN"},       {"deepspeech2", "LM 20"},
    {"bert", "Transformer 64"},   {"cifar10", "ResNet-18 128"}, {"ncf", "Recommendation 2048"}};

/// The lists of a set one after another, several times, each time with work drawn anew: its largest jobs run for days,
/// and a network that is to be as busy as its load says needs many of them.
Result<WorkloadInput> pollux_lists(const std::filesystem::path& path, const std::string& part, std::uint64_t seed)
{
    WorkloadInput all;
    for (std::uint64_t round = 0; round < kPolluxRounds; ++round) {
        Result<WorkloadInput> input =
            read_workload(path, {.format = "pollux", .seed = seed * kPolluxRounds + round, .part = part});
        if (!input) return input.error();
        if (round == 0) {
            all = std::move(*input);
            continue;
        }
        const double begin_s = std::ceil(all.workload.jobs.back().arrival_s / kHour_s) * kHour_s;
        for (Job& job : input->workload.jobs) {
            job.arrival_s += begin_s;
            all.workload.jobs.push_back(job);
        }
        all.lines.insert(all.lines.end(), input->lines.begin(), input->lines.end());
    }
    return all;
}

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
    const std::filesystem::path path = plain_or_compressed(folder / "pollux" / "workloads.csv");
    for (const Set& set : sets) {
        const Result<CentersFile> network = gpu_network_like(*types, set.gpus, kPolluxLikeGavel);
        if (!network) return network.error();
        for (const double load : is_quick ? std::vector{0.85} : std::vector{0.7, 0.85}) {
            const auto draw = [network = *network, path, part = set.part,
                               load](std::uint64_t seed) -> Result<Scenario> {
                Result<WorkloadInput> input = pollux_lists(path, part, seed);
                if (!input) return input.error();
                return with_errors(middle_counted(network, std::move(*input), load));
            };
            PolicyWorld world;
            world.name = fmt::format("Pollux, {}, load {:.2f}", set.title, load);
            world.known = kNoEstimates;
            world.load = load;
            Result<PolicyWorld> added = tried(std::move(world), draw);
            if (!added) return added.error();
            worlds.push_back(std::move(*added));
        }
    }
    return {};
}

/// Philly's log does not say what jobs compute: each gets one of Gavel's job types by a hash of its place in the log,
/// under each seed another.
Result<Scenario> philly_scenario(const GavelJobTypes& types, const WorkloadInput& log, std::int64_t gpus, double load,
                                 std::uint64_t seed)
{
    std::vector<std::pair<std::string, std::string>> like;
    for (std::size_t type = 0; type < types->size(); ++type)
        like.emplace_back(fmt::format("program_{}", type + 1), (*types)[(type + seed) % types->size()].name);
    const Result<CentersFile> network = gpu_network_like(*types, {gpus, gpus, gpus}, like);
    if (!network) return network.error();
    return with_errors(middle_counted(*network, log, load));
}

/// How many GPUs of each kind are that busy with the log's jobs at their own times: its bursts and its longest jobs, of
/// weeks, would mean something else if time were stretched much.
Result<std::int64_t> gpus_for_load(const GavelJobTypes& types, const WorkloadInput& log, double load)
{
    constexpr std::int64_t kTried = 200;
    const Result<Scenario> tried = philly_scenario(types, log, kTried, load, kLoadSeed);
    if (!tried) return tried.error();
    const auto length_s = [](const std::vector<Job>& jobs) { return jobs.back().arrival_s - jobs.front().arrival_s; };
    const double stretch = length_s(tried->workload.jobs) / length_s(log.workload.jobs);
    return std::max<std::int64_t>(std::llround(kTried * stretch), 1);
}

Result<void> add_philly_worlds(const std::filesystem::path& folder, const GavelJobTypes& types, bool is_quick,
                               std::vector<PolicyWorld>& worlds)
{
    Result<WorkloadInput> read = read_workload(plain_or_compressed(folder / "philly" / "jobs_first_half.csv"),
                                               {.format = "philly", .kind_count = types->size()});
    if (!read) return read.error();
    const auto log = std::make_shared<const WorkloadInput>(std::move(*read));
    for (const double load : is_quick ? std::vector{0.85} : std::vector{0.7, 0.85}) {
        const Result<std::int64_t> gpus = gpus_for_load(types, *log, load);
        if (!gpus) return gpus.error();
        PolicyWorld world;
        world.name = fmt::format("Philly's first half on {0}+{0}+{0}, load {1:.2f}", *gpus, load);
        world.known = kNoEstimates;
        world.load = load;
        world.is_large = true;
        Result<PolicyWorld> added = tried(std::move(world), [types, log, gpus = *gpus, load](std::uint64_t seed) {
            return philly_scenario(types, *log, gpus, load, seed);
        });
        if (!added) return added.error();
        worlds.push_back(std::move(*added));
    }
    return {};
}

} // namespace

Result<std::vector<PolicyWorld>> policy_worlds(const std::filesystem::path& folder, bool is_quick)
{
    const Result<GavelJobTypes> read = read_gavel_types(folder);
    if (!read) return read.error();
    const GavelJobTypes& types = *read;
    std::vector<PolicyWorld> worlds;
    add_gavel_worlds(types, is_quick, worlds);
    if (const Result<void> added = add_log_worlds(folder, is_quick, worlds); !added) return added.error();
    if (const Result<void> added = add_pollux_worlds(folder, types, is_quick, worlds); !added) return added.error();
    if (const Result<void> added = add_philly_worlds(folder, types, is_quick, worlds); !added) return added.error();
    return worlds;
}

} // namespace fathom::simulation
