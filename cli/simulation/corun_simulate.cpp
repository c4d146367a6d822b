#include "cli/simulation/corun_simulate.hpp"

#include "cli/client/interrupt.hpp"
#include "cli/simulation/simulate_progress.hpp"
#include "cli/text/format_units.hpp"
#include "simulator/corun/corun_figures.hpp"
#include "simulator/corun/corun_workloads.hpp"
#include "simulator/figures/confidence.hpp"
#include "simulator/workloads/inflated_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <ostream>

namespace fathom::cli {
namespace {

using simulation::CorunFigures;
using simulation::CorunPolicyName;
using simulation::CorunRow;
using simulation::CorunWorkload;
using simulation::CorunWorld;

struct CorunSimulateOptions {
    std::string pairs; ///< file; empty: a world is drawn
    std::string gpu = "p100";
    std::size_t kinds = 24;
    std::size_t limit = 2;
    std::optional<double> preempt_s;
    std::string lengths = "heavy_tailed";
    simulation::CorunDrawing drawing{.high_priority_share = 0.1};
    std::vector<std::string> policies;
    std::int64_t seeds = 5;
};

Result<CorunWorld> corun_world(const CorunSimulateOptions& options)
{
    Result<CorunWorld> world = simulation::draw_corun_world(options.kinds, options.drawing.seed);
    if (!options.pairs.empty()) {
        const auto file = simulation::InflatedFile::open(options.pairs);
        if (!file) return Error{Errc::kInvalid, file.error().detail};
        std::istream input(file->get());
        world = simulation::read_gavel_pairs(input, options.gpu);
        if (!world) return Error{Errc::kInvalid, options.pairs + ": " + world.error().detail};
    }
    world->limit = options.limit;
    world->preempt_s = options.preempt_s.value_or(world->preempt_s);
    return world;
}

Result<std::vector<const CorunPolicyName*>> corun_policies_of(const CorunSimulateOptions& options)
{
    std::vector<const CorunPolicyName*> policies;
    std::string known;
    for (const CorunPolicyName& policy : simulation::corun_policies()) {
        known += (known.empty() ? "" : ", ") + std::string(policy.name);
        if (options.policies.empty()) policies.push_back(&policy);
    }
    for (const std::string& name : options.policies) {
        const CorunPolicyName* policy = simulation::find_corun_policy(name);
        if (policy == nullptr)
            return Error{Errc::kInvalid, "--policy \"" + name + "\": there is none of that name, but " + known};
        if (std::find(policies.begin(), policies.end(), policy) == policies.end()) policies.push_back(policy);
    }
    return policies;
}

/// Policy after policy, seed after seed.
class CorunRuns {
  public:
    CorunRuns(Session& session, const CorunSimulateOptions& options, const CorunWorld& world)
        : session_(session), options_(options), world_(world)
    {
    }

    Result<void> run(const std::vector<const CorunPolicyName*>& policies)
    {
        const InterruptFlag interrupt;
        const auto seeds = static_cast<std::size_t>(options_.seeds);
        SimulateProgress progress(session_.console(), options_.drawing.jobs, policies.size() * seeds);
        const simulation::CorunHooks hooks{.progress =
                                               [&](const simulation::CorunProgress& now) {
                                                   progress.show({.now_s = now.now_s,
                                                                  .ended = static_cast<std::int64_t>(now.ended),
                                                                  .waiting = static_cast<std::int64_t>(now.waiting)});
                                               },
                                           .stop = &interrupt.is_set()};
        for (const CorunPolicyName* policy : policies) {
            CorunRow row{std::string(policy->name), {}};
            for (std::size_t i = 0; i < seeds && !interrupt.is_set(); ++i) {
                progress.begin_run(row.policy);
                simulation::CorunDrawing drawing = options_.drawing;
                drawing.seed += i;
                const CorunWorkload workload = draw_corun_jobs(world_, drawing);
                const auto made = policy->make(world_, {});
                const auto result = simulate_corun(world_, workload, *made, drawing.seed, hooks);
                if (!result) return Error{result.error().code, row.policy + ": " + result.error().detail};
                if (!interrupt.is_set()) row.seeds.push_back(figures_of(workload, *result));
            }
            if (!row.seeds.empty()) rows_.push_back(std::move(row));
        }
        is_partial_ = interrupt.is_set();
        return {};
    }

    const std::vector<CorunRow>& rows() const { return rows_; }
    bool is_partial() const { return is_partial_; }

  private:
    Session& session_;
    const CorunSimulateOptions& options_;
    const CorunWorld& world_;
    std::vector<CorunRow> rows_;
    bool is_partial_ = false;
};

struct CorunColumn {
    const char* title;
    const char* name;
    double CorunFigures::* figure;
    std::string (*format)(double);
};
std::string corun_times(double value)
{
    return fmt::format("{:.3f}", value);
}
constexpr std::array<CorunColumn, 8> kCorunColumns{{
    {"MEAN", "mean_completion_s", &CorunFigures::mean_completion_s, format_duration},
    {"P99", "p99_completion_s", &CorunFigures::p99_completion_s, format_duration},
    {"HIGH MEAN", "high_mean_completion_s", &CorunFigures::high_mean_completion_s, format_duration},
    {"HIGH P99", "high_p99_completion_s", &CorunFigures::high_p99_completion_s, format_duration},
    {"THROUGHPUT", "throughput", &CorunFigures::throughput, corun_times},
    {"SHARED", "shared_share", &CorunFigures::shared_share, format_percent},
    {"PRE-EMPTIONS", "preemptions", &CorunFigures::preemptions, format_number},
    {"DECISIONS", "decisions", &CorunFigures::decisions, format_number},
}};

std::string corun_cell(const CorunRow& row, const CorunColumn& column)
{
    const simulation::Confidence figure = row.over_seeds(column.figure);
    std::string text = column.format(figure.mean);
    if (figure.half_width > 0 && figure.mean > 0) text += " ± " + format_percent(figure.half_width / figure.mean);
    return text;
}

Json corun_rows_json(const CorunWorld& world, const CorunRuns& runs)
{
    Json json{{"world", world.name}, {"kinds", world.kinds.size()}, {"is_partial", runs.is_partial()}};
    json["policies"] = Json::array();
    for (const CorunRow& row : runs.rows()) {
        Json policy{{"policy", row.policy}, {"seeds", row.seeds.size()}};
        for (const CorunColumn& column : kCorunColumns) {
            const simulation::Confidence figure = row.over_seeds(column.figure);
            policy[column.name] = {{"mean", figure.mean}, {"half_width", nullptr}};
            if (row.seeds.size() > 1) policy[column.name]["half_width"] = figure.half_width;
        }
        json["policies"].push_back(std::move(policy));
    }
    return json;
}

std::string corun_rows_text(Session& session, const CorunSimulateOptions& options, const CorunWorld& world,
                            const CorunRuns& runs)
{
    std::vector<Column> columns{{"POLICY"}};
    for (std::size_t i = 0; i < kCorunColumns.size(); ++i)
        columns.push_back({kCorunColumns[i].title, Align::kRight, i < 2 ? 0 : static_cast<int>(i)});
    Table table(std::move(columns));
    for (const CorunRow& row : runs.rows()) {
        std::vector<Cell> cells{row.policy};
        for (const CorunColumn& column : kCorunColumns)
            cells.emplace_back(corun_cell(row, column));
        table.add_row(std::move(cells));
    }
    return fmt::format(
               "{}: {} kinds of jobs, {} jobs, load {}, at most {} at a time, {} of high priority, {} seeds\n\n",
               world.name, world.kinds.size(), options.drawing.jobs, options.drawing.load, options.limit,
               format_percent(options.drawing.high_priority_share), options.seeds) +
           table.render(table_style(session));
}

Outcome corun_simulate(Session& session, const CorunSimulateOptions& options)
{
    const Result<std::vector<const CorunPolicyName*>> policies = corun_policies_of(options);
    if (!policies) return policies.error();
    const Result<CorunWorld> world = corun_world(options);
    if (!world) return world.error();
    CorunRuns runs(session, options, *world);
    if (const Result<void> ran = runs.run(*policies); !ran) return ran.error();
    if (session.wants_json())
        print_json(session, corun_rows_json(*world, runs));
    else
        *session.console().out << corun_rows_text(session, options, *world, runs);
    if (!runs.is_partial()) return ExitCode::kOk;
    say(session, "fathom: stopped; the figures are of what was simulated until then");
    return ExitCode::kInterrupted;
}

std::string corun_policies_footer()
{
    std::string text = "Policies:\n";
    for (const CorunPolicyName& policy : simulation::corun_policies())
        text += fmt::format("  {:<29} {}\n", policy.name, policy.description);
    return text +
           "\nThroughput is work in seconds alone on the GPU, per second. Policies know throughputs of pairs only\n"
           "as far as they have run together in the simulation (docs/corun.md).\n\n"
           "Example:\n  fathom corun simulate --pairs pairs.csv --gpu p100 --load 0.9";
}

} // namespace

void add_corun_simulate_command(CLI::App& noun, Invocation& invocation)
{
    auto options = std::make_shared<CorunSimulateOptions>();
    CLI::App& verb = *noun.add_subcommand("simulate", "Policies for a GPU that jobs share, side by side");
    verb.fallthrough();
    verb.footer(corun_policies_footer());
    simulation::CorunDrawing& drawing = options->drawing;
    verb.add_option("--pairs", options->pairs,
                    "Measured throughputs of pairs (CSV: gpu, job_a, job_b, solo_a, solo_b, coloc_a, coloc_b), may be "
                    "gzipped; without it a world is drawn")
        ->type_name("FILE");
    verb.add_option("--gpu", options->gpu, "Which GPU of that file (default p100)");
    verb.add_option("--kinds", options->kinds, "Kinds of jobs in a drawn world (default 24)")
        ->check(CLI::Range(1, 500));
    verb.add_option("--load", drawing.load, "Of the GPU if jobs ran one by one (default 0.9)")
        ->check(CLI::Range(0.01, 10.0));
    verb.add_option("--jobs", drawing.jobs, "How many come (default 400)")->check(CLI::Range(1, 1'000'000));
    verb.add_option("--high-priority", drawing.high_priority_share, "Part of them of high priority (default 0.1)")
        ->check(CLI::Range(0.0, 1.0));
    verb.add_option("--size-error", drawing.size_error, "How far off expected lengths are (default 0.2)")
        ->check(CLI::Range(0.0, 3.0));
    verb.add_option("--lengths", options->lengths, "heavy_tailed (default; hours to a week) or exponential")
        ->check(CLI::IsMember({"heavy_tailed", "exponential"}));
    verb.add_option("--limit", options->limit, "Jobs at the same time (default 2)")->check(CLI::Range(1, 16));
    verb.add_option("--preempt-s", options->preempt_s, "How long pre-empting a job takes (default 30)")
        ->check(CLI::Range(0.0, 1e6));
    verb.add_option("--policy", options->policies, "Only these, separated by commas (default: all)")
        ->delimiter(',')
        ->allow_extra_args(false);
    verb.add_option("--seed", drawing.seed, "Of all chances: the same seed gives the same bytes (default 1)");
    verb.add_option("--seeds", options->seeds, "So many seeds from there on, for intervals (default 5)")
        ->check(CLI::Range(1, 1000));
    verb.callback([&invocation, options] {
        options->drawing.lengths = options->lengths == "exponential" ? simulation::CorunLengths::kExponential
                                                                     : simulation::CorunLengths::kHeavyTailed;
        invocation.action = [options](Session& session) { return corun_simulate(session, *options); };
    });
}

} // namespace fathom::cli
