// Which jobs and kernels share a GPU: policies side by side (see tests/bench/corun).
#include "simulator/corun/corun_figures.hpp"
#include "simulator/corun/corun_workloads.hpp"
#include "simulator/figures/confidence.hpp"
#include "simulator/workloads/inflated_file.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <limits>
#include <map>

namespace fathom::simulation {
namespace {

constexpr std::size_t kDrawnWorlds = 4;
constexpr std::size_t kDrawnKinds = 24;
constexpr std::size_t kJobs = 400;
constexpr std::array kLoads{0.5, 0.7, 0.9, 1.5};
constexpr double kHighLoad = 0.9;
constexpr double kOverload = 1.5;
constexpr double kHighPriorityShare = 0.2;
constexpr double kInferenceLoad = 0.3;
constexpr std::size_t kRequests = 500;
/// Of kernels; jobs have the default. Chosen on the drawn programs.
constexpr CorunPolicySettings kKernelSettings{.high_priority_weight = 3};
constexpr std::array<std::string_view, 4> kKernelPolicies{"exclusive_fifo", "shared_fifo", "greedy_best_pair",
                                                          "fathom"};

struct Settings {
    std::filesystem::path data;
    std::uint64_t seeds{10};
    bool is_drawn{}; ///< worlds that are nobody's
};

/// What the figures are made from.
struct Gathered {
    double worst_over_simpler = std::numeric_limits<double>::infinity();
    double gain_over_exclusive = std::numeric_limits<double>::infinity();
    double gain_over_preemptive = std::numeric_limits<double>::infinity();
    double high_priority_ratio = 0;
    std::vector<double> overload_throughput; ///< ours over the best exclusive one's
    std::vector<double> tails;               ///< p99 of ours over shared_fifo's, at high load
    std::vector<double> kernel_throughput;
};

double geometric_mean(const std::vector<double>& values)
{
    double sum = 0;
    for (const double value : values)
        sum += std::log(value);
    return std::exp(sum / static_cast<double>(values.size()));
}

template <class T>
T checked(Result<T> result, const std::string& what)
{
    if (!result) throw std::runtime_error(what + ": " + describe(result.error()));
    return std::move(*result);
}

std::unique_ptr<InflatedFile> open(const std::filesystem::path& path)
{
    std::filesystem::path there = path;
    if (!std::filesystem::exists(there)) there += ".gz";
    return checked(InflatedFile::open(there), there.string());
}

CorunFigures simulate_one(const CorunWorld& world, const CorunWorkload& workload, std::string_view policy,
                          const CorunPolicySettings& settings, std::uint64_t seed)
{
    const auto made = find_corun_policy(policy)->make(world, settings);
    const CorunResult result = checked(simulate_corun(world, workload, *made, seed), world.name);
    for (std::size_t i = 0; i < workload.jobs.size(); ++i) {
        // Means are of those that ended: a policy must not gain by leaving some out.
        if (!workload.jobs[i].repeats && result.jobs[i].end_s < 0)
            throw std::runtime_error(fmt::format("{}, {}: a job did not end", world.name, policy));
    }
    return figures_of(workload, result);
}

std::vector<CorunWorld> worlds_of(const Settings& settings)
{
    std::vector<CorunWorld> worlds;
    if (settings.is_drawn) {
        for (std::uint64_t seed = 1; seed <= kDrawnWorlds; ++seed)
            worlds.push_back(draw_corun_world(kDrawnKinds, seed));
        return worlds;
    }
    for (const char* gpu : {"k80", "p100"}) {
        const auto file = open(settings.data / "gavel" / "pairs.csv");
        std::istream input(file.get());
        worlds.push_back(checked(read_gavel_pairs(input, gpu), "gavel/pairs.csv"));
    }
    return worlds;
}

/// Each policy over all seeds, the same jobs for each.
std::map<std::string_view, CorunRow> run_policies(const CorunWorld& world, CorunDrawing drawing,
                                                  const Settings& settings)
{
    std::map<std::string_view, CorunRow> rows;
    for (std::uint64_t seed = 1; seed <= settings.seeds; ++seed) {
        drawing.seed = 1000 * world.kinds.size() + seed;
        const CorunWorkload workload = draw_corun_jobs(world, drawing);
        for (const CorunPolicyName& policy : corun_policies())
            rows[policy.name].seeds.push_back(simulate_one(world, workload, policy.name, {}, drawing.seed));
    }
    return rows;
}

std::string with_width(const CorunRow& row, double CorunFigures::* figure, double unit)
{
    const Confidence value = row.over_seeds(figure);
    return fmt::format("{:.1f} ± {:.1f}", value.mean / unit, value.half_width / unit);
}

void gather(const std::map<std::string_view, CorunRow>& rows, double load, Gathered& gathered)
{
    const auto mean = [&](std::string_view policy) { return rows.at(policy).mean(&CorunFigures::mean_completion_s); };
    const auto throughput = [&](std::string_view policy) { return rows.at(policy).mean(&CorunFigures::throughput); };
    const double ours = mean("fathom");
    for (const auto& [name, row] : rows) {
        if (name != "fathom") gathered.worst_over_simpler = std::min(gathered.worst_over_simpler, mean(name) / ours);
    }
    if (load == kOverload)
        gathered.overload_throughput.push_back(
            throughput("fathom") / std::max(throughput("exclusive_fifo"), throughput("exclusive_shortest")));
    if (load != kHighLoad) return;
    gathered.gain_over_exclusive =
        std::min(gathered.gain_over_exclusive, std::min(mean("exclusive_fifo"), mean("exclusive_shortest")) / ours);
    gathered.gain_over_preemptive =
        std::min(gathered.gain_over_preemptive, mean("exclusive_shortest_remaining") / ours);
    gathered.tails.push_back(rows.at("fathom").mean(&CorunFigures::p99_completion_s) /
                             rows.at("shared_fifo").mean(&CorunFigures::p99_completion_s));
}

void compare_policies(const CorunWorld& world, const Settings& settings, Gathered& gathered)
{
    for (const CorunLengths lengths : {CorunLengths::kHeavyTailed, CorunLengths::kExponential}) {
        for (const double load : kLoads) {
            const auto rows = run_policies(world, {.load = load, .jobs = kJobs, .lengths = lengths}, settings);
            fmt::print("\n{}, {} lengths, load {}\n{:<30}{:>20}{:>20}{:>12}{:>10}{:>14}\n", world.name,
                       lengths == CorunLengths::kHeavyTailed ? "heavy-tailed" : "exponential", load, "policy", "mean h",
                       "p99 h", "throughput", "shared", "pre-emptions");
            for (const CorunPolicyName& policy : corun_policies()) {
                const CorunRow& row = rows.at(policy.name);
                fmt::print("{:<30}{:>20}{:>20}{:>12.3f}{:>8.1f} %{:>14.0f}\n", policy.name,
                           with_width(row, &CorunFigures::mean_completion_s, 3600),
                           with_width(row, &CorunFigures::p99_completion_s, 3600), row.mean(&CorunFigures::throughput),
                           100 * row.mean(&CorunFigures::shared_share), row.mean(&CorunFigures::preemptions));
            }
            std::fflush(stdout);
            gather(rows, load, gathered);
        }
    }
}

/// Jobs of high priority among others, against without the others.
void compare_priorities(const CorunWorld& world, const Settings& settings, Gathered& gathered)
{
    fmt::print("\n{}, one job in five of high priority, load {}: p99 of these, over that without the others\n",
               world.name, kHighLoad);
    for (const CorunPolicyName& policy : corun_policies()) {
        CorunRow among{std::string(policy.name), {}};
        CorunRow alone = among;
        for (std::uint64_t seed = 1; seed <= settings.seeds; ++seed) {
            const CorunWorkload workload = draw_corun_jobs(world, {.load = kHighLoad,
                                                                   .jobs = kJobs,
                                                                   .high_priority_share = kHighPriorityShare,
                                                                   .seed = 1000 * world.kinds.size() + seed});
            among.seeds.push_back(simulate_one(world, workload, policy.name, {}, seed));
            alone.seeds.push_back(simulate_one(world, only_high_priority(workload), policy.name, {}, seed));
        }
        const double ratio =
            among.mean(&CorunFigures::high_p99_completion_s) / alone.mean(&CorunFigures::high_p99_completion_s);
        fmt::print("{:<30}{:>20}{:>10.3f}\n", policy.name,
                   with_width(among, &CorunFigures::high_p99_completion_s, 3600), ratio);
        if (policy.name == "fathom") gathered.high_priority_ratio = std::max(gathered.high_priority_ratio, ratio);
    }
}

struct ProgramPair {
    ProfiledProgram inference;
    ProfiledProgram training;
};

std::vector<ProgramPair> program_pairs(const Settings& settings)
{
    std::vector<ProgramPair> pairs;
    if (settings.is_drawn) {
        for (std::uint64_t seed = 1; seed <= kDrawnWorlds; ++seed)
            pairs.push_back({draw_profiled_program(150, 3e-5, seed), draw_profiled_program(1000, 4e-5, 100 + seed)});
        return pairs;
    }
    const auto file = open(settings.data / "orion" / "kernels.csv");
    std::istream input(file.get());
    const std::vector<ProfiledProgram> programs = checked(read_orion_programs(input), "orion/kernels.csv");
    for (const ProfiledProgram& inference : programs) {
        for (const ProfiledProgram& training : programs) {
            if (inference.phase == "fwd" && training.phase == "fb1") pairs.push_back({inference, training});
        }
    }
    return pairs;
}

void compare_kernels(const Settings& settings, Gathered& gathered)
{
    const CorunWorld world = profiled_kernel_world();
    fmt::print("\ninference at load {} beside training, kernel by kernel\n{:<24}{:<24}{:<20}{:>10}{:>12}{:>12}\n",
               kInferenceLoad, "inference", "training", "policy", "p99 ms", "over alone", "training");
    for (const ProgramPair& pair : program_pairs(settings)) {
        const CorunWorkload workload =
            draw_inference_beside_training(pair.inference, pair.training, kInferenceLoad, kRequests, 1);
        for (const std::string_view policy : kKernelPolicies) {
            const CorunFigures among = simulate_one(world, workload, policy, kKernelSettings, 1);
            const CorunFigures alone = simulate_one(world, only_high_priority(workload), policy, kKernelSettings, 1);
            const double ratio = among.high_p99_completion_s / alone.high_p99_completion_s;
            fmt::print("{:<24}{:<24}{:<20}{:>10.2f}{:>12.3f}{:>10.1f} %\n",
                       fmt::format("{} {}", pair.inference.model, pair.inference.batch),
                       fmt::format("{} {}", pair.training.model, pair.training.batch), policy,
                       1e3 * among.high_p99_completion_s, ratio, 100 * among.repeated_rate);
            if (policy != "fathom") continue;
            gathered.high_priority_ratio = std::max(gathered.high_priority_ratio, ratio);
            gathered.kernel_throughput.push_back(among.throughput);
        }
        std::fflush(stdout);
    }
}

int run(const Settings& settings)
{
    Gathered gathered;
    for (const CorunWorld& world : worlds_of(settings)) {
        compare_policies(world, settings, gathered);
        compare_priorities(world, settings, gathered);
    }
    compare_kernels(settings, gathered);
    fmt::print("RESULT gain_over_exclusive {:.3f} times\n", gathered.gain_over_exclusive);
    fmt::print("RESULT high_priority_p99_over_alone {:.3f} times\n", gathered.high_priority_ratio);
    fmt::print("RESULT worst_over_simpler {:.4f} times\n", gathered.worst_over_simpler);
    fmt::print("RESULT gain_over_exclusive_preemptive {:.3f} times\n", gathered.gain_over_preemptive);
    fmt::print("RESULT overload_throughput_over_exclusive {:.3f} times\n",
               geometric_mean(gathered.overload_throughput));
    fmt::print("RESULT p99_over_shared_fifo {:.3f} times\n", geometric_mean(gathered.tails));
    fmt::print("RESULT kernel_throughput_over_exclusive {:.3f} times\n", geometric_mean(gathered.kernel_throughput));
    return 0;
}

} // namespace
} // namespace fathom::simulation

int main(int argc, char** argv)
{
    CLI::App app{"Compares policies for a shared GPU"};
    fathom::simulation::Settings settings;
    app.add_option("--data", settings.data)->required()->check(CLI::ExistingDirectory);
    app.add_option("--seeds", settings.seeds)->check(CLI::Range(2, 100));
    app.add_flag("--drawn", settings.is_drawn);
    CLI11_PARSE(app, argc, argv);
    try {
        return fathom::simulation::run(settings);
    } catch (const std::exception& e) {
        fmt::print(stderr, "corun_bench: {}\n", e.what());
        return 1;
    }
}
