// Which rule for the order of waiting jobs is best, on public workloads (see tests/bench/ordering).
#include "core/decide/queue/order_jobs.hpp"
#include "core/decide/statistics/sample_statistics.hpp"
#include "simulator/figures/figures.hpp"
#include "simulator/policies/policy_order.hpp"
#include "simulator/world/draw.hpp"
#include "tests/bench/interrupted.hpp"
#include "tests/bench/ordering_worlds.hpp"
#include "tests/bench/synthetic_worlds.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <array>
#include <cmath>
#include <ctime>
#include <string>
#include <utility>
#include <vector>

namespace fathom::simulation {
namespace {

struct Candidate {
    std::string_view title;
    std::string_view policy; ///< of policy_names()
};
enum CandidateIndex : std::size_t { kFirstCome, kShortestFirst, kGreedy, kAdvantage, kAssignment, kCandidates };
constexpr std::array<Candidate, kCandidates> kRules{{{"first come", "first_come"},
                                                     {"shortest first", "shortest_first"},
                                                     {"advantage, no waiting", "advantage_no_waiting"},
                                                     {"advantage (in use)", "fathom"},
                                                     {"min-cost assignment", "min_cost_assignment"}}};

/// A rule's figures in one world: means over seeds, but the worst of what should never be.
struct Row {
    double mean_completion_s{};
    double p95_completion_s{};
    double utilization{};
    double max_wait_s{};
    double max_slowdown{};
    double decisions_per_s{};
};

Row run_rule(const OrderingWorld& world, const Candidate& candidate, std::uint64_t seeds)
{
    Row row;
    std::int64_t decisions = 0;
    double decide_s = 0;
    const double share = 1 / static_cast<double>(seeds);
    for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
        const Scenario drawn = world.draw(seed);
        Result<SimulationResult> result = simulate(drawn, candidate.policy, seed);
        if (!result) throw std::runtime_error(world.name + ": " + describe(result.error()));
        decisions += result->decisions;
        decide_s += result->decide_wall_s;
        const Figures one = figure_out(drawn, std::string(candidate.policy), seed, std::move(*result)).all;
        // Means are of those that ended: a rule must not gain by leaving some out.
        if (one.ended != one.jobs)
            throw std::runtime_error(
                fmt::format("{}, {}: {} counted jobs did not end", world.name, candidate.title, one.jobs - one.ended));
        row.mean_completion_s += share * one.mean_completion_s;
        row.p95_completion_s += share * one.p95_completion_s;
        row.utilization += share * one.utilization;
        row.max_wait_s = std::max(row.max_wait_s, one.max_wait_s);
        row.max_slowdown = std::max(row.max_slowdown, one.max_slowdown);
    }
    row.decisions_per_s = static_cast<double>(decisions) / decide_s;
    return row;
}

using WorldRows = std::array<Row, kCandidates>;

WorldRows run_world(const OrderingWorld& world, std::uint64_t seeds)
{
    WorldRows rows;
    fmt::print("\n{}\n{:<24}{:>12}{:>10}{:>14}{:>14}{:>13}{:>13}\n", world.name, "rule", "mean h", "p95 h",
               "max slowdown", "max wait h", "utilization", "decisions/s");
    for (std::size_t i = 0; i < kCandidates; ++i) {
        rows[i] = run_rule(world, kRules[i], std::min(seeds, world.most_seeds));
        const Row& row = rows[i];
        fmt::print("{:<24}{:>12.2f}{:>10.1f}{:>14.1f}{:>14.1f}{:>11.1f} %{:>13.0f}\n", kRules[i].title,
                   row.mean_completion_s / 3600, row.p95_completion_s / 3600, row.max_slowdown, row.max_wait_s / 3600,
                   100 * row.utilization, row.decisions_per_s);
    }
    std::fflush(stdout);
    return rows;
}

/// Geometric mean over worlds of how many times longer jobs take under one rule than under another.
double gain(const std::vector<WorldRows>& worlds, std::size_t rule, std::size_t over)
{
    double sum = 0;
    for (const WorldRows& rows : worlds)
        sum += std::log(rows[over].mean_completion_s / rows[rule].mean_completion_s);
    return std::exp(sum / static_cast<double>(worlds.size()));
}

/// The world in which jobs take the most times as long under one rule as under another, with that ratio.
std::pair<double, std::size_t> worst_over(const std::vector<WorldRows>& worlds, std::size_t rule, std::size_t other)
{
    std::pair<double, std::size_t> worst{0, 0};
    for (std::size_t i = 0; i < worlds.size(); ++i) {
        const double ratio = worlds[i][rule].mean_completion_s / worlds[i][other].mean_completion_s;
        if (ratio > worst.first) worst = {ratio, i};
    }
    return worst;
}

/// Median processor time of one decision over jobs that could run at many places, a few units free at each.
double decision_ms(std::size_t jobs, std::size_t places, OrderRule rule)
{
    Draw draw(7);
    std::vector<UnitTypeLoad> unit_types;
    for (std::size_t type = 0; type < places; ++type) {
        UnitTypeLoad load{100, 2, draw.uniform(0.2, 3), 0.9, {}};
        for (int unit = 0; unit < 98; ++unit)
            load.releases.push_back({draw.exponential(3600), 1});
        unit_types.push_back(std::move(load));
    }
    std::vector<WaitingJobView> waiting(jobs);
    for (std::size_t job = 0; job < jobs; ++job) {
        waiting[job].id = fmt::format("job_{:08}", job);
        const double work_s = draw.exponential(3600);
        waiting[job].waited_s = draw.exponential(600);
        std::vector<JobOption> options;
        for (std::size_t type = 0; type < places; ++type)
            options.push_back({type, 1, work_s * std::exp(0.7 * draw.normal()), 1});
        waiting[job].options = std::move(options);
    }
    std::vector<double> times_ms;
    for (int i = 0; i < 7; ++i) {
        const std::clock_t begin = std::clock();
        const std::vector<OrderedStart> starts = order_starts(waiting, unit_types, {.rule = rule});
        times_ms.push_back(1000 * static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC);
        if (starts.empty()) throw std::runtime_error("nothing was started");
    }
    return median(times_ms);
}

struct Setting {
    std::string title;
    OrderSettings settings;
    PriceMemory memory{};
};

/// Mean completion of the counted jobs of a world under these settings, and the worst slowdown.
Row run_settings(const OrderingWorld& world, const Setting& setting, std::uint64_t seeds)
{
    Row row;
    for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
        const Scenario drawn = world.draw(seed);
        Result<SimulationResult> result =
            simulate(drawn, order_policy(setting.settings, LoadKnowledge::kMeasured, {.memory = setting.memory}), seed);
        if (!result) throw std::runtime_error(world.name + ": " + describe(result.error()));
        const Figures one = figure_out(drawn, "settings", seed, std::move(*result)).all;
        if (one.ended != one.jobs) throw std::runtime_error(world.name + ": counted jobs did not end");
        row.mean_completion_s += one.mean_completion_s / static_cast<double>(seeds);
        row.max_slowdown = std::max(row.max_slowdown, one.max_slowdown);
    }
    return row;
}

/// The settings in use, then each parameter by itself.
std::vector<Setting> settings_to_try()
{
    std::vector<Setting> all{{"in use", {}}};
    for (const double exponent : {1.0, 2.0, 3.0, 4.0, 8.0, 12.0})
        all.push_back({fmt::format("advantage_exponent {}", exponent), {.advantage_exponent = exponent}});
    for (const double factor : {5.0, 10.0, 40.0, 1e9})
        all.push_back({fmt::format("starvation_limit_factor {}", factor), {.starvation_limit_factor = factor}});
    for (const double limit_s : {300.0, 14'400.0})
        all.push_back({fmt::format("starvation_limit_s {}", limit_s), {.starvation_limit_s = limit_s}});
    for (const double stretch : {0.0, 0.25, 1.0, 2.0})
        all.push_back({fmt::format("wait_stretch {}", stretch), {.wait_stretch = stretch}});
    for (const std::size_t arrivals : {200U, 500U, 2000U, 4000U})
        all.push_back({fmt::format("arrivals remembered {}", arrivals), {}, {.arrivals = arrivals}});
    for (const double hours : {6.0, 12.0, 48.0, 96.0})
        all.push_back({fmt::format("busy shares of {} h", hours), {}, {.busy_s = 3600 * hours}});
    return all;
}

/// Parameters are chosen by this table, of drawn worlds only; whatever is published then confirms the choice or not.
int try_settings(std::uint64_t seeds)
{
    const std::vector<OrderingWorld> worlds = synthetic_worlds();
    std::vector<double> in_use_s;
    fmt::print("{:<34}{:>14}{:>14}{:>14}  {}\n", "mean completion over that in use", "geometric mean", "largest",
               "max slowdown", "largest in");
    for (const Setting& setting : settings_to_try()) {
        double logs = 0;
        double largest = 0;
        double slowdown = 0;
        std::string largest_in;
        for (std::size_t i = 0; i < worlds.size(); ++i) {
            const Row row = run_settings(worlds[i], setting, seeds);
            if (in_use_s.size() == i) in_use_s.push_back(row.mean_completion_s);
            const double ratio = row.mean_completion_s / in_use_s[i];
            logs += std::log(ratio) / static_cast<double>(worlds.size());
            slowdown = std::max(slowdown, row.max_slowdown);
            if (ratio > largest) largest_in = worlds[i].name;
            largest = std::max(largest, ratio);
        }
        fmt::print("{:<34}{:>14.4f}{:>14.3f}{:>14.1f}  {}\n", setting.title, std::exp(logs), largest, slowdown,
                   largest_in);
        std::fflush(stdout);
    }
    return 0;
}

/// What jobs that keep checkpoints could be interrupted for, at most.
class InterruptingGain {
  public:
    explicit InterruptingGain(Checkpoints checkpoints) : checkpoints_(checkpoints) {}

    /// Worlds in which run times are known exactly: else knowing them would be taken for a gain.
    void add(const OrderingWorld& world, std::uint64_t seeds, double in_use_s)
    {
        if (world.draw(1).knowledge.job_noise > 0) return;
        double mean_s = 0;
        double interruptions = 0;
        for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
            const InterruptedRun run = run_interrupted(world.draw(seed), checkpoints_, seed);
            mean_s += run.mean_completion_s / static_cast<double>(seeds);
            interruptions += run.interruptions / static_cast<double>(seeds);
        }
        fmt::print("{:<24}{:>12.2f}   {:.2f} interruptions a job, a checkpoint every {:g} min, go on {}\n",
                   "if interrupted", mean_s / 3600, interruptions, checkpoints_.every_s / 60,
                   checkpoints_.go_elsewhere ? "anywhere" : "at the same center");
        std::fflush(stdout);
        logs_ += std::log(in_use_s / mean_s);
        ++worlds_;
    }
    double mean() const { return std::exp(logs_ / worlds_); }

  private:
    Checkpoints checkpoints_;
    double logs_ = 0;
    double worlds_ = 0;
};

int run(const std::string& folder, std::uint64_t seeds)
{
    const Result<std::vector<OrderingWorld>> worlds = ordering_worlds(folder);
    if (!worlds) throw std::runtime_error(describe(worlds.error()));
    std::vector<WorldRows> rows;
    double reference_s = 0;
    double worst_slowdown = 0;
    InterruptingGain rarely({.every_s = 1800});
    InterruptingGain often({.every_s = 300, .restart_s = 30});
    InterruptingGain rarely_there({.every_s = 1800, .go_elsewhere = false});
    InterruptingGain often_there({.every_s = 300, .restart_s = 30, .go_elsewhere = false});
    for (const OrderingWorld& world : *worlds) {
        rows.push_back(run_world(world, seeds));
        for (InterruptingGain* const gain_of : {&rarely, &often, &rarely_there, &often_there})
            gain_of->add(world, std::min(seeds, world.most_seeds), rows.back()[kAdvantage].mean_completion_s);
        const Row& used = rows.back()[kAdvantage];
        worst_slowdown = std::max(worst_slowdown, used.max_slowdown);
        if (world.is_reference) reference_s = used.mean_completion_s;
    }
    fmt::print("\ngeometric mean over worlds of mean completion, that of the rule in use = 1\n");
    for (std::size_t i = 0; i < kCandidates; ++i)
        fmt::print("{:<24}{:>8.3f}\n", kRules[i].title, gain(rows, kAdvantage, i));
    const auto [worst_over_assignment, worst_world] = worst_over(rows, kAdvantage, kAssignment);
    fmt::print("most over min-cost assignment: {:.3f}, {}\n", worst_over_assignment, (*worlds)[worst_world].name);
    const double greedy_ms = decision_ms(10'000, 40, OrderRule::kAdvantage);
    const double assignment_ms = decision_ms(10'000, 40, OrderRule::kMinCostAssignment);
    fmt::print("RESULT gavel_mean_completion_h {:.2f} h\n", reference_s / 3600);
    fmt::print("RESULT gain_over_first_come {:.2f} times\n", gain(rows, kAdvantage, kFirstCome));
    fmt::print("RESULT gain_over_shortest_first {:.2f} times\n", gain(rows, kAdvantage, kShortestFirst));
    fmt::print("RESULT worst_max_slowdown {:.1f} times\n", worst_slowdown);
    fmt::print("RESULT assignment_over_greedy {:.4f} times\n", gain(rows, kAssignment, kAdvantage));
    fmt::print("RESULT worst_over_assignment {:.3f} times\n", worst_over_assignment);
    fmt::print("RESULT gain_by_interrupting_30_min {:.3f} times\n", rarely.mean());
    fmt::print("RESULT gain_by_interrupting_5_min {:.3f} times\n", often.mean());
    fmt::print("RESULT gain_by_interrupting_30_min_same_center {:.3f} times\n", rarely_there.mean());
    fmt::print("RESULT gain_by_interrupting_5_min_same_center {:.3f} times\n", often_there.mean());
    fmt::print("RESULT decision_10000_jobs_40_places_ms {:.1f} ms\n", greedy_ms);
    fmt::print("RESULT assignment_10000_jobs_40_places_ms {:.1f} ms\n", assignment_ms);
    return 0;
}

} // namespace
} // namespace fathom::simulation

int main(int argc, char** argv)
{
    CLI::App app{"Compares rules for the order of waiting jobs"};
    std::string folder;
    std::uint64_t seeds = 3;
    bool is_choice = false;
    app.add_option("--data", folder)->check(CLI::ExistingDirectory);
    app.add_flag("--parameters", is_choice);
    app.add_option("--seeds", seeds)->check(CLI::Range(1, 100));
    CLI11_PARSE(app, argc, argv);
    try {
        if (is_choice) return fathom::simulation::try_settings(seeds);
        if (folder.empty()) throw std::runtime_error("--data is wanted, or --parameters");
        return fathom::simulation::run(folder, seeds);
    } catch (const std::exception& e) {
        fmt::print(stderr, "ordering_bench: {}\n", e.what());
        return 1;
    }
}
