#include "cli/simulation/simulate_records.hpp"

#include "core/base/csv_field.hpp"
#include "simulator/figures/confidence.hpp"
#include "simulator/figures/figure_fields.hpp"
#include "simulator/figures/policy_group.hpp"
#include "simulator/world/centers_file_write.hpp"

#include <fmt/format.h>
#include <fmt/ostream.h>

#include <cmath>

namespace fathom::cli {
namespace {

using simulation::figure_fields;
using simulation::FigureField;
using simulation::Figures;
using simulation::PolicyRun;
using simulation::Scenario;

/// Figures of parts that have names.
Json parts_json(const char* kind, const std::vector<std::string>& names, const std::vector<Figures>& parts)
{
    Json list = Json::array();
    for (std::size_t i = 0; i < parts.size(); ++i) {
        Json item = simulation::to_json(parts[i]);
        item[kind] = names[i];
        list.push_back(std::move(item));
    }
    return list;
}

std::vector<std::string> center_names(const Scenario& scenario)
{
    std::vector<std::string> names;
    names.reserve(scenario.network.centers.size());
    for (const simulation::Center& center : scenario.network.centers)
        names.push_back(center.name);
    return names;
}

double decisions_per_s(const PolicyRun& run)
{
    return static_cast<double>(run.result.decisions) / run.result.decide_wall_s;
}

Json run_json(const SimulatedRuns& simulated, const PolicyRun& run)
{
    const Scenario& scenario = simulated.joined->scenario;
    Json json = {{"seed", run.seed},
                 {"is_partial", run.result.was_stopped},
                 {"figures", simulation::to_json(run.all)},
                 {"by_project", parts_json("project", scenario.workload.projects, run.by_project)},
                 {"by_center", parts_json("center", center_names(scenario), run.by_center)},
                 {"end_s", run.result.end_s},
                 {"decisions", run.result.decisions},
                 {"starts", run.result.starts},
                 {"failures", run.result.failures},
                 {"measurements", run.result.measurements},
                 {"most_waiting", run.result.most_waiting}};
    if (simulated.has_timing) json["decisions_per_s"] = decisions_per_s(run);
    return json;
}

Json confidence_json(const simulation::PolicyGroup& policy)
{
    Json json;
    for (const FigureField& field : figure_fields()) {
        const simulation::Confidence confidence =
            simulation::over_seeds(policy, [&](const PolicyRun& run) { return value_of(field, run.all); });
        json[std::string(field.name)] = {{"mean", confidence.mean}, {"half_width", confidence.half_width}};
    }
    return json;
}

Json scenario_json(const SimulatedRuns& simulated)
{
    const Scenario& scenario = simulated.joined->scenario;
    const simulation::Workload& workload = scenario.workload;
    Json skips = Json::array();
    for (const simulation::InputSkips& skip : scenario.skips)
        skips.push_back({{"rule", skip.rule}, {"count", skip.count}, {"lines", skip.lines}});
    std::int64_t unit_count = 0;
    for (const simulation::UnitType& unit_type : scenario.network.unit_types)
        unit_count += unit_type.unit_count;
    return {{"workload", workload.name},
            {"format", simulated.format},
            {"jobs", workload.jobs.size()},
            {"counted", {{"first", workload.first_counted}, {"end", workload.end_counted}}},
            {"centers", center_names(scenario)},
            {"unit_types", scenario.network.unit_types.size()},
            {"units", unit_count},
            {"currency", scenario.network.currency},
            {"load", simulated.load},
            {"knowledge", simulation::to_json(scenario.knowledge)},
            {"skips", std::move(skips)}};
}

std::string_view state_name(simulation::JobState state)
{
    switch (state) {
    case simulation::JobState::kEnded:
        return "ended";
    case simulation::JobState::kUnfinished:
        return "unfinished";
    case simulation::JobState::kImpossible:
        return "impossible";
    }
    return "";
}

/// A number as short as it can be read back exactly; nothing where there is none.
std::string csv_number(double value)
{
    return std::isfinite(value) ? fmt::format("{}", value) : std::string();
}

std::string csv_number(std::int64_t value)
{
    return fmt::format("{}", value);
}

/// In quotes where it must be (RFC 4180).
std::string csv_text(const std::string& text)
{
    std::string field;
    append_csv(field, text);
    return field;
}

} // namespace

Json to_json(const SimulatedRuns& simulated)
{
    Json policies = Json::array();
    for (const simulation::PolicyGroup& policy : simulation::group_by_policy(simulated.runs)) {
        Json runs = Json::array();
        for (const PolicyRun* run : policy.runs)
            runs.push_back(run_json(simulated, *run));
        policies.push_back({{"policy", policy.name}, {"figures", confidence_json(policy)}, {"runs", std::move(runs)}});
    }
    return {{"scenario", scenario_json(simulated)},
            {"policies", std::move(policies)},
            {"not_simulated", simulated.not_simulated},
            {"is_partial", simulated.is_partial}};
}

std::string to_csv(const SimulatedRuns& simulated)
{
    std::string text = "policy,seed,is_partial";
    for (const FigureField& field : figure_fields())
        text += fmt::format(",{}", field.name);
    text += ",end_s,decisions,starts,failures,measurements,most_waiting";
    text += simulated.has_timing ? ",decisions_per_s\n" : "\n";
    for (const PolicyRun& run : simulated.runs) {
        const simulation::SimulationResult& result = run.result;
        text += fmt::format("{},{},{}", csv_text(run.policy), run.seed, result.was_stopped);
        for (const FigureField& field : figure_fields())
            text += "," + std::visit([&](auto member) { return csv_number(run.all.*member); }, field.member);
        text += fmt::format(",{},{},{},{},{},{}", csv_number(result.end_s), result.decisions, result.starts,
                            result.failures, result.measurements, result.most_waiting);
        if (simulated.has_timing) text += "," + csv_number(decisions_per_s(run));
        text += "\n";
    }
    return text;
}

void write_jobs_header(std::ostream& out)
{
    out << "policy,seed,line,job_type,project,user,arrival_s,state,start_s,end_s,center,unit_type,unit_count,attempts,"
           "predicted_s,cost,energy_j\n";
}

void write_jobs(std::ostream& out, const simulation::JoinedScenario& joined, const PolicyRun& run)
{
    const Scenario& scenario = joined.scenario;
    const simulation::Workload& workload = scenario.workload;
    for (std::size_t i = 0; i < workload.jobs.size(); ++i) {
        const simulation::Job& job = workload.jobs[i];
        const simulation::JobOutcome& outcome = run.result.jobs[i];
        fmt::print(out, "{},{},{},{},{},{},{},{}", csv_text(run.policy), run.seed, joined.lines[i],
                   csv_text(scenario.network.job_types[job.job_type].name), csv_text(workload.projects[job.project]),
                   csv_text(workload.users[job.user]), csv_number(job.arrival_s), state_name(outcome.state));
        if (outcome.attempts == 0) {
            out << ",,,,,,0,,,\n";
            continue;
        }
        const simulation::UnitType& unit_type = scenario.network.unit_types[outcome.unit_type];
        const bool has_ended = outcome.state == simulation::JobState::kEnded;
        fmt::print(out, ",{},{},{},{},{},{},{},{},{}\n", csv_number(outcome.start_s),
                   has_ended ? csv_number(outcome.end_s) : "",
                   csv_text(scenario.network.centers[unit_type.center].name), csv_text(unit_type.name),
                   outcome.unit_count, outcome.attempts, outcome.predicted_s > 0 ? csv_number(outcome.predicted_s) : "",
                   csv_number(outcome.cost), csv_number(outcome.energy_j));
    }
}

} // namespace fathom::cli
