// Where jobs should run: policies side by side on public workloads (see tests/bench/policies).
#include "simulator/figures/figures.hpp"
#include "tests/bench/interrupted.hpp"
#include "tests/bench/least_completion.hpp"
#include "tests/bench/policies_figures.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>

namespace fathom::simulation {
namespace {

constexpr double kHour_s = 3600;

/// Other rules of order on the same knowledge: tests/bench/ordering compares them.
bool is_rule_of_order(std::string_view policy)
{
    return policy != kOurs && policy != kOracle && !is_naive(policy);
}

/// What the world's policies are held against: means over seeds.
LeastMeans least_means(const PolicyWorld& world, std::uint64_t seeds)
{
    constexpr Checkpoints kOften{.every_s = 300, .restart_s = 30};
    LeastMeans means;
    double interrupted_s = 0;
    const double share = 1 / static_cast<double>(seeds);
    for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
        const Scenario scenario = world.draw(seed);
        const LeastCompletion least = least_completion(scenario, seed);
        means.alone_s += share * least.alone_s;
        means.pooled_s += share * least.pooled_s;
        if (!world.is_large) interrupted_s += share * run_interrupted(scenario, kOften, seed).mean_completion_s;
    }
    if (!world.is_large) means.interrupted_s = interrupted_s;
    return means;
}

/// Adds a simulation's mean completion, and which jobs did not end.
void add_completions(const Scenario& scenario, const PolicyRun& run, double share, PolicyRow& row)
{
    const Workload& workload = scenario.workload;
    double sum_s = 0;
    for (std::size_t job = workload.first_counted; job < workload.end_counted; ++job) {
        const JobOutcome& outcome = run.result.jobs[job];
        const bool has_ended = outcome.state == JobState::kEnded;
        if (!has_ended) row.undone.emplace_back(run.seed, job);
        sum_s += (has_ended ? outcome.end_s : run.result.end_s) - workload.jobs[job].arrival_s;
    }
    row.mean_completion_s += share * sum_s / static_cast<double>(workload.end_counted - workload.first_counted);
}

Result<PolicyRow> run_policy(const PolicyWorld& world, std::string_view policy, std::uint64_t seeds)
{
    PolicyRow row;
    const auto begin = std::chrono::steady_clock::now();
    const double share = 1 / static_cast<double>(seeds);
    for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
        const Scenario scenario = world.draw(seed);
        Result<SimulationResult> result = simulate(scenario, policy, seed);
        if (!result) return result.error();
        const PolicyRun run = figure_out(scenario, std::string(policy), seed, std::move(*result));
        add_completions(scenario, run, share, row);
        row.p95_completion_s += share * run.all.p95_completion_s;
        row.mean_slowdown += share * run.all.mean_slowdown;
        row.utilization += share * run.all.utilization;
        row.jain_projects += share * run.all.jain_projects;
        row.prediction_error += share * run.all.prediction_error;
    }
    row.wall_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    return row;
}

void print_row(std::string_view policy, const PolicyRow& row)
{
    fmt::print("{:<24}{:>10.2f}{:>10.1f}{:>12.1f}{:>11.1f} %{:>8.3f}{:>8.1f} %{:>10.1f}\n", policy,
               row.mean_completion_s / kHour_s, row.p95_completion_s / kHour_s, row.mean_slowdown,
               100 * row.utilization, row.jain_projects, 100 * row.prediction_error, row.wall_s);
    if (!row.undone.empty())
        fmt::print("  {} counted jobs did not end; the mean counts their time until the end\n", row.undone.size());
    std::fflush(stdout);
}

Result<PolicyRows> run_world(const PolicyWorld& world, std::uint64_t seeds)
{
    PolicyRows rows;
    fmt::print("\n{}\n{}\n{:<24}{:>10}{:>10}{:>12}{:>13}{:>8}{:>10}{:>10}\n", world.name, world.known, "policy",
               "mean h", "p95 h", "slowdown", "utilization", "Jain", "error", "run s");
    for (const PolicyName& policy : policy_names()) {
        if (world.is_large && is_rule_of_order(policy.name)) continue;
        Result<PolicyRow> row = run_policy(world, policy.name, std::min(seeds, world.most_seeds));
        if (!row) return Error{row.error().code, fmt::format("{}: {}", policy.name, row.error().detail)};
        print_row(policy.name, *row);
        const auto [added, is_new] = rows.emplace(policy.name, std::move(*row));
        if (added->second.undone != rows.at(kOurs).undone)
            return Error{Errc::kInternal,
                         fmt::format("{} and {} ended different jobs: their means say nothing", kOurs, policy.name)};
    }
    return rows;
}

int run(const std::string& folder, std::uint64_t seeds, bool is_quick, const std::string& only)
{
    const Result<std::vector<PolicyWorld>> worlds = policy_worlds(folder, is_quick);
    if (!worlds) throw std::runtime_error(describe(worlds.error()));
    PolicyFigures figures;
    bool is_empty = true;
    for (const PolicyWorld& world : *worlds) {
        if (world.name.find(only) == std::string::npos) continue;
        is_empty = false;
        const Result<PolicyRows> rows = run_world(world, seeds);
        if (!rows) throw std::runtime_error(world.name + ", " + describe(rows.error()));
        figures.add(world, *rows, least_means(world, std::min(seeds, world.most_seeds)));
    }
    if (is_empty) throw std::runtime_error("no world's name holds \"" + only + "\"");
    figures.print();
    return 0;
}

} // namespace
} // namespace fathom::simulation

int main(int argc, char** argv)
{
    CLI::App app{"Compares policies of where jobs run"};
    std::string folder;
    std::string only;
    std::uint64_t seeds = 3;
    bool is_quick = false;
    app.add_option("--data", folder)->required()->check(CLI::ExistingDirectory);
    app.add_option("--seeds", seeds)->check(CLI::Range(1, 100));
    app.add_option("--only", only);
    app.add_flag("--quick", is_quick);
    CLI11_PARSE(app, argc, argv);
    try {
        return fathom::simulation::run(folder, seeds, is_quick, only);
    } catch (const std::exception& e) {
        fmt::print(stderr, "policies_bench: {}\n", e.what());
        return 1;
    }
}
