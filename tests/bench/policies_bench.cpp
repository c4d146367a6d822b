// Where jobs should run: policies side by side on public workloads (see tests/bench/policies).
#include "cli/simulate/figures.hpp"
#include "tests/bench/policies_worlds.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <limits>
#include <map>

namespace fathom::simulation {
namespace {

constexpr double kHour_s = 3600;
constexpr double kHighLoad = 0.695; ///< loads are rounded to hundredths where they are shown
constexpr std::string_view kOurs = "fathom";
constexpr std::string_view kOracle = "oracle";

/// Policies that route without measuring: one of them is what a site without Fathom has.
constexpr std::array<std::string_view, 7> kNaive{"random",    "round_robin", "least_loaded",       "peak_flops",
                                                 "benchmark", "favourite",   "shortest_completion"};

/// Other rules of order on the same knowledge: tests/bench/ordering compares them.
bool is_rule_of_order(std::string_view policy)
{
    return policy != kOurs && policy != kOracle && std::find(kNaive.begin(), kNaive.end(), policy) == kNaive.end();
}

/// A policy's figures in one world, means over seeds.
struct Row {
    double mean_completion_s{};
    double p95_completion_s{};
    double mean_slowdown{};
    double utilization{};
    double jain_projects{};
    double prediction_error{};
    double wall_s{}; ///< all seeds
    std::int64_t unfinished{};
};

using Rows = std::map<std::string_view, Row>;

/// Mean completion of the counted jobs if each were alone in the network: below it comes no policy.
double least_mean_s(const PolicyWorld& world, std::uint64_t seeds)
{
    double sum_s = 0;
    for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
        const Scenario scenario = world.draw(seed);
        const Workload& workload = scenario.workload;
        const double share = 1 / static_cast<double>(seeds * (workload.end_counted - workload.first_counted));
        for (std::size_t i = workload.first_counted; i < workload.end_counted; ++i) {
            const Job& job = workload.jobs[i];
            double least_s = std::numeric_limits<double>::infinity();
            for (std::size_t type = 0; type < scenario.network.unit_types.size(); ++type) {
                if (fits(scenario, job, type))
                    least_s = std::min(least_s, true_run_s(scenario.network, job, type, job.unit_count));
            }
            sum_s += share * least_s;
        }
    }
    return sum_s;
}

Result<Row> run_policy(const PolicyWorld& world, std::string_view policy, std::uint64_t seeds)
{
    Row row;
    const auto begin = std::chrono::steady_clock::now();
    const double share = 1 / static_cast<double>(seeds);
    for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
        const Scenario scenario = world.draw(seed);
        Result<SimulationResult> result = simulate(scenario, policy, seed);
        if (!result) return result.error();
        const Figures figures = figure_out(scenario, std::string(policy), seed, std::move(*result)).all;
        row.mean_completion_s += share * figures.mean_completion_s;
        row.p95_completion_s += share * figures.p95_completion_s;
        row.mean_slowdown += share * figures.mean_slowdown;
        row.utilization += share * figures.utilization;
        row.jain_projects += share * figures.jain_projects;
        row.prediction_error += share * figures.prediction_error;
        row.unfinished += figures.unfinished + figures.impossible;
    }
    row.wall_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    return row;
}

Result<Rows> run_world(const PolicyWorld& world, std::uint64_t seeds)
{
    Rows rows;
    fmt::print("\n{}\n{:<22}{:>10}{:>10}{:>12}{:>13}{:>8}{:>10}{:>10}\n", world.name, "policy", "mean h", "p95 h",
               "slowdown", "utilization", "Jain", "error", "run s");
    for (const PolicyName& policy : policy_names()) {
        if (world.is_large && is_rule_of_order(policy.name)) continue;
        const Result<Row> row = run_policy(world, policy.name, std::min(seeds, world.most_seeds));
        if (!row) {
            return Error{row.error().code, fmt::format("{}, {}: {}", world.name, policy.name, row.error().detail)};
        }
        fmt::print("{:<22}{:>10.2f}{:>10.1f}{:>12.1f}{:>11.1f} %{:>8.3f}{:>8.1f} %{:>10.1f}\n", policy.name,
                   row->mean_completion_s / kHour_s, row->p95_completion_s / kHour_s, row->mean_slowdown,
                   100 * row->utilization, row->jain_projects, 100 * row->prediction_error, row->wall_s);
        if (row->unfinished > 0) fmt::print("  {} counted jobs did not end\n", row->unfinished);
        std::fflush(stdout);
        rows[policy.name] = *row;
    }
    return rows;
}

/// What the worlds come to.
struct Summary {
    double worst_gain = std::numeric_limits<double>::infinity();
    std::string worst_gain_world;
    double worst_over_oracle = 0;
    std::string worst_over_oracle_world;
    double reference_s = 0;

    /// @param least_s  see least_mean_s().
    void add(const PolicyWorld& world, const Rows& rows, double least_s)
    {
        const double ours_s = rows.at(kOurs).mean_completion_s;
        const auto best = std::min_element(kNaive.begin(), kNaive.end(), [&](std::string_view a, std::string_view b) {
            return rows.at(a).mean_completion_s < rows.at(b).mean_completion_s;
        });
        const double gain = rows.at(*best).mean_completion_s / ours_s;
        const double over_oracle = ours_s / rows.at(kOracle).mean_completion_s;
        fmt::print(
            "best naive policy: {}, {:.2f} times as long as Fathom (no policy could reach more than {:.2f}); Fathom "
            "over the oracle: {:.3f}\n",
            *best, gain, rows.at(*best).mean_completion_s / least_s, over_oracle);
        if (world.is_reference) reference_s = ours_s;
        if (world.is_extra) return;
        if (world.load >= kHighLoad && gain < worst_gain) {
            worst_gain = gain;
            worst_gain_world = world.name;
        }
        if (over_oracle > worst_over_oracle) {
            worst_over_oracle = over_oracle;
            worst_over_oracle_world = world.name;
        }
    }
};

int run(const std::string& folder, std::uint64_t seeds, bool is_quick, const std::string& only)
{
    const Result<std::vector<PolicyWorld>> worlds = policy_worlds(folder, is_quick);
    if (!worlds) throw std::runtime_error(describe(worlds.error()));
    Summary summary;
    for (const PolicyWorld& world : *worlds) {
        if (world.name.find(only) == std::string::npos) continue;
        const Result<Rows> rows = run_world(world, seeds);
        if (!rows) throw std::runtime_error(describe(rows.error()));
        summary.add(world, *rows, least_mean_s(world, std::min(seeds, world.most_seeds)));
    }
    if (summary.worst_over_oracle_world.empty()) throw std::runtime_error("no world's name holds \"" + only + "\"");
    fmt::print("\nleast gain over the best naive policy: {}\nmost over the oracle: {}\n", summary.worst_gain_world,
               summary.worst_over_oracle_world);
    // Of worlds that were picked by name none may be that busy.
    if (std::isfinite(summary.worst_gain))
        fmt::print("RESULT worst_gain_over_naive {:.2f} times\n", summary.worst_gain);
    fmt::print("RESULT worst_over_oracle {:.3f} times\n", summary.worst_over_oracle);
    fmt::print("RESULT gavel_mean_jct_h {:.2f} h\n", summary.reference_s / kHour_s);
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
