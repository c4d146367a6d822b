#include "cli/simulation/simulate.hpp"

#include "cli/client/interrupt.hpp"
#include "cli/simulation/command_text.hpp"
#include "cli/simulation/simulate_compare.hpp"
#include "cli/simulation/simulate_export.hpp"
#include "cli/simulation/simulate_load.hpp"
#include "cli/simulation/simulate_progress.hpp"
#include "cli/simulation/simulate_records.hpp"
#include "cli/simulation/simulate_tables.hpp"
#include "core/base/file.hpp"
#include "core/base/nearest_name.hpp"
#include "simulator/figures/network_load.hpp"
#include "simulator/figures/policy_group.hpp"
#include "simulator/report/report.hpp"
#include "simulator/what_if/comparison.hpp"
#include "simulator/world/check_scenario.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <optional>
#include <ostream>
#include <set>

namespace fathom::cli {
namespace {

using simulation::JoinedScenario;
using simulation::PolicyRun;

Result<std::string> needed(const char* flag, const std::string& value)
{
    if (!value.empty()) return value;
    return Error{Errc::kInvalid, std::string(flag) + " FILE is required; `fathom simulate export` writes one"};
}

Result<std::vector<std::string>> policies_of(const SimulateOptions& options)
{
    std::vector<std::string> names;
    std::set<std::string, std::less<>> known{"all"};
    for (const simulation::PolicyName& policy : simulation::policy_names())
        known.emplace(policy.name);
    for (const std::string& name : options.policies) {
        if (name == "all") {
            names.clear();
            for (const simulation::PolicyName& policy : simulation::policy_names())
                names.emplace_back(policy.name);
            return names;
        }
        if (!simulation::find_policy(name).make) {
            const std::string nearest = nearest_name(name, known);
            return Error{Errc::kInvalid, "--policy \"" + name + "\": there is none of that name" +
                                             (nearest.empty() ? ", but " + short_list(known, known.size())
                                                              : "; did you mean " + nearest + "?")};
        }
        if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
    }
    return names;
}

struct LoadedScenario {
    JoinedScenario joined;
    std::optional<simulation::Scenario> shared; ///< the same where jobs share GPUs; empty: they are not to
    std::string format;
};

Result<LoadedScenario> load(Session& session, const SimulateOptions& options)
{
    const auto counted = parse_counted(options.counted);
    if (!counted) return counted.error();
    const Result<LoadedCenters> centers = load_centers(session, options);
    if (!centers) return centers.error();
    Result<simulation::WorkloadInput> input = load_workload(options);
    if (!input) return input.error();
    const std::string format = input->format;
    Result<JoinedScenario> joined =
        simulation::join_scenario(centers->after, std::move(*input), {.counted = *counted, .load = options.load});
    if (!joined) return joined.error();
    if (const Result<void> valid = simulation::check_scenario(joined->scenario); !valid) return valid.error();
    Result<std::optional<simulation::Scenario>> shared = load_shared(options, joined->scenario);
    if (!shared) return shared.error();
    return LoadedScenario{std::move(*joined), std::move(*shared), format};
}

/// Before hours of simulating rather than after them.
Result<void> check_report_place(const std::string& path)
{
    std::error_code ignored;
    if (std::filesystem::is_directory(path, ignored))
        return Error{Errc::kInvalid, "cannot write " + path + ": it is a folder"};
    const std::filesystem::path folder = std::filesystem::path(path).parent_path();
    if (folder.empty() || std::filesystem::is_directory(folder, ignored)) return {};
    return Error{Errc::kInvalid, "cannot write " + path + ": there is no folder " + folder.string()};
}

/// Runs policy after policy, seed after seed.
class Simulations {
  public:
    Simulations(Session& session, const SimulateOptions& options, const LoadedScenario& loaded)
        : session_(session), options_(options), joined_(loaded.joined)
    {
        if (options.gpu_sharing != "on") networks_.push_back({&joined_.scenario, ""});
        if (loaded.shared) networks_.push_back({&*loaded.shared, simulation::kSharedGpus});
    }

    Result<void> open_jobs_file()
    {
        if (options_.jobs_file.empty()) return {};
        jobs_out_.open(options_.jobs_file, std::ios::trunc);
        write_jobs_header(jobs_out_);
        return check_jobs_file();
    }

    Result<void> run(const std::vector<std::string>& policies)
    {
        const InterruptFlag interrupt;
        const auto seed_count = static_cast<std::size_t>(options_.seed_count);
        SimulateProgress progress(session_.console(), joined_.scenario.workload.end_counted,
                                  policies.size() * networks_.size() * seed_count);
        const simulation::SimulationHooks hooks{
            .progress = [&](const simulation::SimulationProgress& now) { progress.show(now); },
            .stop = &interrupt.is_set()};
        Result<void> done;
        for (const std::string& policy : policies) {
            for (const SimulatedNetwork& network : networks_) {
                const std::string name = policy + std::string(network.suffix);
                if (interrupt.is_set() || !done) not_simulated_.push_back(name);
                for (std::size_t i = 0; i < seed_count && !interrupt.is_set() && done; ++i) {
                    progress.begin_run(name);
                    done = run_one(policy, network, options_.seed + i, hooks);
                }
            }
        }
        is_partial_ = interrupt.is_set();
        if (!done) return done;
        return check_jobs_file();
    }

    SimulatedRuns records(const std::string& format) const
    {
        return {.joined = &joined_,
                .format = format,
                .load = simulation::load_of(joined_.scenario),
                .runs = runs_,
                .not_simulated = not_simulated_,
                .is_partial = is_partial_,
                .has_timing = options_.has_timing};
    }

  private:
    struct SimulatedNetwork {
        const simulation::Scenario* scenario{};
        std::string_view suffix; ///< of the policies' names
    };

    Result<void> run_one(const std::string& policy, const SimulatedNetwork& network, std::uint64_t seed,
                         const simulation::SimulationHooks& hooks)
    {
        const std::string name = policy + std::string(network.suffix);
        Result<simulation::SimulationResult> result = simulation::simulate(*network.scenario, policy, seed, hooks);
        if (!result) return Error{result.error().code, name + ": " + result.error().detail, result.error().fields};
        // Of whole GPUs, also where jobs had parts of them: so that both can be compared.
        PolicyRun& run = runs_.emplace_back(simulation::figure_out(joined_.scenario, name, seed, std::move(*result)));
        if (jobs_out_.is_open()) write_jobs(jobs_out_, joined_, run);
        // Of large workloads only the figures are kept, unless a report draws every job.
        if (options_.report_file.empty()) run.result.jobs = {};
        return {};
    }

    Result<void> check_jobs_file()
    {
        jobs_out_.flush();
        if (!jobs_out_.is_open() && options_.jobs_file.empty()) return {};
        if (jobs_out_) return {};
        return Error{Errc::kInvalid, "cannot write " + options_.jobs_file};
    }

    Session& session_;
    const SimulateOptions& options_;
    const JoinedScenario& joined_;
    std::vector<SimulatedNetwork> networks_;
    std::ofstream jobs_out_;
    std::vector<PolicyRun> runs_;
    std::vector<std::string> not_simulated_;
    bool is_partial_ = false;
};

Result<void> write_report(const SimulateOptions& options, const SimulatedRuns& records)
{
    if (options.report_file.empty() || records.runs.empty()) return {};
    const simulation::ReportOptions report{
        .title = "",
        .command = options.command,
        .language =
            simulation::parse_report_language(options.report_language).value_or(simulation::ReportLanguage::kEnglish)};
    const std::string html = simulation::report_html(records.joined->scenario, records.runs, report);
    const Result<void> written = write_file(options.report_file, html);
    if (!written) return Error{Errc::kInvalid, "cannot write " + options.report_file + ": " + written.error().detail};
    return {};
}

void print(Session& session, const SimulateOptions& options, const SimulatedRuns& records)
{
    std::ostream& out = *session.console().out;
    const std::string format = options.output.empty() ? (session.wants_json() ? "json" : "table") : options.output;
    if (format == "json")
        print_json(session, to_json(records));
    else if (format == "csv")
        out << to_csv(records);
    else
        out << render_simulated(records, options.by, table_style(session));
}

/// What a comparison has no room for.
Result<void> check_comparison(const SimulateOptions& options, const std::vector<std::string>& policies)
{
    if (options.load || options.seed_count > 1 || !options.by.empty() || options.has_timing ||
        !options.report_file.empty() || !options.jobs_file.empty() || options.gpu_sharing != "off")
        return Error{
            Errc::kInvalid,
            "--compare does not go with --load, --seeds, --by, --timing, --report, --jobs-csv and --gpu-sharing"};
    if (policies.size() > 2)
        return Error{Errc::kInvalid, "--compare takes one policy, or two: before and after the changes"};
    return {};
}

/// Before and after the changes, under one policy or from one to another.
Outcome run_comparison(Session& session, const SimulateOptions& options, const std::vector<std::string>& policies)
{
    if (const Result<void> right = check_comparison(options, policies); !right) return right.error();
    const auto counted = parse_counted(options.counted);
    if (!counted) return counted.error();
    const Result<LoadedCenters> centers = load_centers(session, options);
    if (!centers) return centers.error();
    const Result<simulation::WorkloadInput> workload = load_workload(options);
    if (!workload) return workload.error();
    const InterruptFlag interrupt;
    SimulateProgress progress(session.console(), workload->workload.jobs.size(), 2);
    const simulation::ComparisonOrder order{
        .before = {.centers = &centers->before, .policy = policies.front()},
        .after = {.centers = &centers->after, .policy = policies.back()},
        .seed = options.seed,
        .counted = *counted,
        .on_begin = [&](std::string_view policy) { progress.begin_run(std::string(policy)); }};
    const simulation::SimulationHooks hooks{
        .progress = [&](const simulation::SimulationProgress& now) { progress.show(now); },
        .stop = &interrupt.is_set()};
    const Result<simulation::Comparison> comparison = simulation::compare_networks(order, *workload, hooks);
    progress.clear();
    if (!comparison) return comparison.error();
    print_comparison(session, options, *comparison);
    return interrupt.is_set() ? ExitCode::kInterrupted : ExitCode::kOk;
}

Outcome run_simulate(Session& session, const SimulateOptions& options)
{
    const Result<std::vector<std::string>> policies = policies_of(options);
    if (!policies) return policies.error();
    for (const auto& [flag, value] : {std::pair("--centers", &options.centers), {"--workload", &options.workload}}) {
        if (const auto named = needed(flag, *value); !named) return named.error();
    }
    if (options.is_comparison) return run_comparison(session, options, *policies);
    const Result<LoadedScenario> loaded = load(session, options);
    if (!loaded) return loaded.error();
    Simulations simulations(session, options, *loaded);
    if (const Result<void> placed = check_report_place(options.report_file); !placed) return placed.error();
    if (const Result<void> opened = simulations.open_jobs_file(); !opened) return opened.error();
    const Result<void> run = simulations.run(*policies);
    const SimulatedRuns records = simulations.records(loaded->format);
    // What was simulated before something went wrong is told all the same.
    if (run || !records.runs.empty()) print(session, options, records);
    if (!run) return run.error();
    if (const Result<void> written = write_report(options, records); !written) return written.error();
    if (!records.is_partial) return ExitCode::kOk;
    say(session, "fathom: stopped; the figures are of what was simulated until then");
    return ExitCode::kInterrupted;
}

void add_inputs(CLI::App& verb, SimulateOptions& options)
{
    verb.add_option("--centers", options.centers, "The network: a JSON or YAML file (docs/simulation.md)");
    verb.add_option("--workload", options.workload, "The jobs: a file of one of the formats below, or gzipped");
    std::vector<std::string> formats{"auto"};
    for (const simulation::WorkloadFormat& format : simulation::workload_formats())
        formats.emplace_back(format.name);
    verb.add_option("--format", options.format, "What the workload is; auto: as it looks")
        ->check(CLI::IsMember(formats));
    verb.add_option("--part", options.part, "Of pollux and gavel-trace: the job list of this name");
    verb.add_option("--kinds", options.kind_count, "Of swf and philly: so many job types, by program (default 4)")
        ->check(CLI::Range(1, 10'000));
    verb.add_option("--jobs-per-hour", options.jobs_per_hour, "Of gavel: how many jobs come (default 5.6)")
        ->check(CLI::PositiveNumber);
    verb.add_option("--jobs", options.job_count, "Of gavel: how many jobs in all (default 8000)")
        ->check(CLI::Range(1, 100'000'000));
    verb.add_flag("--multiple-gpus", options.has_multiple_gpus, "Of gavel: jobs of 1, 2, 4 and 8 GPUs");
}

void add_changes(CLI::App& verb, SimulateOptions& options)
{
    const auto add_many = [&](const char* name, std::vector<std::string>& values, const char* description) {
        verb.add_option(name, values, description)->allow_extra_args(false);
    };
    add_many("--set", options.sets, "Another value: beta/core.unit_count=128, knowledge.learns=false; may be repeated");
    add_many("--scale", options.scales, "So many times the units: beta=2, beta/core=0.5; may be repeated");
    add_many("--close", options.closures,
             "Nothing starts at a center from when to when, in seconds, 9h, 2d or times: beta=0..9h; may be repeated");
    verb.add_option("--load", options.load, "Stretch arrivals until the network's load is this: 0.7")
        ->check(CLI::PositiveNumber);
    verb.add_option("--gpu-sharing", options.gpu_sharing,
                    "Whether two jobs may share a GPU: off (default), on, or both, side by side")
        ->check(CLI::IsMember({"off", "on", "both"}));
    verb.add_option("--gpu-pairs", options.gpu_pairs,
                    "For it: what pairs of jobs keep of their speed on GPUs, Gavel's pairs.csv");
    verb.add_option("--measurement-noise", options.measurement_noise, "How far measured rates are off: 0.04");
    verb.add_option("--job-noise", options.job_noise, "How far predictions of a job's work are off: 0.1");
    verb.add_option("--drift-per-day", options.drift_per_day, "How far rates wander in a day: 0.05");
    verb.add_option("--report-every", options.report_every_s, "How old centers' reports get, in seconds: 10");
}

void add_outputs(CLI::App& verb, SimulateOptions& options)
{
    verb.add_flag("--compare", options.is_comparison,
                  "Before and after the changes, with differences, under --policy (default fathom; BEFORE,AFTER)");
    verb.add_option("--policy", options.policies, "Who decides, side by side (default fathom,least_loaded,oracle)")
        ->delimiter(',')
        ->allow_extra_args(false);
    verb.add_option("--seed", options.seed, "Of all chances: the same seed gives the same bytes (default 1)")
        ->check(CLI::NonNegativeNumber);
    verb.add_option("--seeds", options.seed_count, "So many seeds from there on, for intervals (default 1)")
        ->check(CLI::Range(1, 1000));
    verb.add_option("--count", options.counted, "Figures of these jobs only, counted from 0: FIRST:END");
    verb.add_option("--output", options.output, "table (for people), json or csv")
        ->check(CLI::IsMember({"table", "json", "csv"}));
    verb.add_option("--by", options.by, "Further tables, of each project or center")
        ->check(CLI::IsMember({"project", "center"}));
    verb.add_flag("--timing", options.has_timing, "With decisions per second, which differ from run to run");
    verb.add_option("--report", options.report_file, "Write a report for people: one HTML file");
    verb.add_option("--report-language", options.report_language, "en (default) or zh")
        ->check(CLI::IsMember({"en", "zh"}));
    verb.add_option("--jobs-csv", options.jobs_file, "Write what became of each job: a CSV file");
}

std::string footer()
{
    std::string text = "\nPolicies (all: all of them):\n";
    for (const simulation::PolicyName& policy : simulation::policy_names())
        text += fmt::format("  {:<22} {}\n", policy.name, policy.title);
    text += "\nFormats of workloads:\n";
    for (const simulation::WorkloadFormat& format : simulation::workload_formats())
        text += fmt::format("  {:<22} {}\n", format.name, format.title);
    return text + R"(
Examples:
  fathom simulate export --centers now.json --workload jobs.jsonl
  fathom simulate --centers now.json --workload jobs.jsonl
  fathom simulate --centers now.json --workload jobs.jsonl --scale beta=2 --report twice.html
  fathom simulate --centers now.json --workload jobs.jsonl --scale beta=2 --compare
  fathom simulate --centers now.json --workload jobs.jsonl --close beta=0..9h --by center
  fathom simulate --centers five.json --workload CTC-SP2.swf.gz --load 0.85 --policy all --seeds 5 --output csv

Ctrl-C prints what has been simulated so far (exit code 130).
Options of every command (--url, --output, …): fathom --help)";
}

} // namespace

void add_simulate_commands(CLI::App& app, Invocation& invocation)
{
    CLI::App& verb = *app.add_subcommand("simulate", "What would a network do with these jobs, under which policy?");
    verb.fallthrough();
    verb.require_subcommand(0, 1);
    verb.footer(footer());
    auto options = std::make_shared<SimulateOptions>();
    add_inputs(verb, *options);
    add_changes(verb, *options);
    add_outputs(verb, *options);
    add_simulate_export(verb, invocation);
    verb.callback([&verb, &invocation, options] {
        // It is called for `simulate export` as well, which has set its own action.
        if (!verb.get_subcommands().empty()) return;
        options->command = command_text(verb);
        if (options->is_comparison && verb.count("--policy") == 0) options->policies = {"fathom"};
        invocation.action = [options](Session& session) { return run_simulate(session, *options); };
    });
}

} // namespace fathom::cli
