#include "cli/simulation/simulate_tables.hpp"

#include "cli/text/format_units.hpp"
#include "simulator/figures/confidence.hpp"
#include "simulator/figures/policy_group.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

namespace fathom::cli {
namespace {

using simulation::Confidence;
using simulation::Figures;
using simulation::PolicyGroup;
using simulation::PolicyRun;
using simulation::Scenario;

constexpr std::size_t kMaxParts = 50;

/// Which figures a row is of: a run's, or those of a part of it.
using FiguresOf = std::function<const Figures&(const PolicyRun&)>;

Confidence over_seeds(const PolicyGroup& policy, const FiguresOf& figures_of,
                      const std::function<double(const Figures&)>& value)
{
    return simulation::over_seeds(policy, [&](const PolicyRun& run) { return value(figures_of(run)); });
}

/// "3.1 h ± 4 %"; "-" where there is nothing to take the figure of.
std::string with_interval(const Confidence& figure, const std::function<std::string(double)>& format)
{
    if (!std::isfinite(figure.mean)) return "-";
    std::string text = format(figure.mean);
    if (std::isfinite(figure.half_width) && figure.half_width > 0 && figure.mean > 0)
        text += " ± " + format_percent(figure.half_width / figure.mean);
    return text;
}

std::string whole(double value)
{
    return format_count(std::llround(value));
}

/// A column of the table of policies.
struct FigureColumn {
    Column column;
    std::function<double(const Figures&)> value;
    std::function<std::string(double)> format;
};

double share_missed(const Figures& figures)
{
    if (figures.with_deadline == 0) return std::numeric_limits<double>::quiet_NaN();
    return static_cast<double>(figures.missed_deadline) / static_cast<double>(figures.with_deadline);
}

double jobs_of(const Figures& figures)
{
    return static_cast<double>(figures.jobs);
}

double unended_of(const Figures& figures)
{
    return static_cast<double>(figures.unfinished + figures.impossible);
}

std::string cost_title(const SimulatedRuns& simulated)
{
    return "COST " + simulated.joined->scenario.network.currency;
}

FigureColumn column_of(const std::string& title, int drop_rank, double Figures::* value,
                       const std::function<std::string(double)>& format)
{
    return {{title, Align::kRight, drop_rank}, [value](const Figures& figures) { return figures.*value; }, format};
}

/// What tables of policies, projects and centers have in common.
std::vector<FigureColumn> common_columns()
{
    return {{{"JOBS", Align::kRight, 4}, jobs_of, whole},
            column_of("MEAN", 0, &Figures::mean_completion_s, format_duration),
            column_of("MEDIAN", 6, &Figures::median_completion_s, format_duration),
            column_of("P95", 2, &Figures::p95_completion_s, format_duration),
            column_of("WAIT", 3, &Figures::mean_wait_s, format_duration),
            column_of("SLOWDOWN", 3, &Figures::mean_slowdown, format_number)};
}

std::vector<FigureColumn> policy_columns(const SimulatedRuns& simulated)
{
    const auto is_any = [&](double (*value)(const Figures&)) {
        return std::any_of(simulated.runs.begin(), simulated.runs.end(),
                           [&](const PolicyRun& run) { return value(run.all) > 0; });
    };
    std::vector<FigureColumn> columns = common_columns();
    columns.push_back(column_of("IN USE", 5, &Figures::utilization, format_percent));
    if (is_any([](const Figures& figures) { return figures.cost; }))
        columns.push_back(column_of(cost_title(simulated), 5, &Figures::cost, format_number));
    if (is_any([](const Figures& figures) { return figures.energy_kwh; }))
        columns.push_back(column_of("ENERGY kWh", 7, &Figures::energy_kwh, format_number));
    columns.push_back(column_of("JAIN", 8,
                                simulated.joined->scenario.workload.projects.size() > 1 ? &Figures::jain_projects
                                                                                        : &Figures::jain_jobs,
                                format_number));
    columns.push_back(column_of("FINISH-TIME FAIRNESS", 9, &Figures::mean_finish_time_fairness, format_number));
    if (is_any([](const Figures& figures) { return static_cast<double>(figures.with_deadline); }))
        columns.push_back({{"LATE", Align::kRight, 4}, share_missed, format_percent});
    if (is_any(unended_of)) columns.push_back({{"NOT ENDED", Align::kRight, 1}, unended_of, whole});
    return columns;
}

Confidence decision_rate(const PolicyGroup& policy)
{
    return simulation::over_seeds(policy, [](const PolicyRun& run) {
        return static_cast<double>(run.result.decisions) / run.result.decide_wall_s;
    });
}

std::string policies_table(const SimulatedRuns& simulated, const TableStyle& style)
{
    const std::vector<FigureColumn> columns = policy_columns(simulated);
    const FiguresOf all = [](const PolicyRun& run) -> const Figures& { return run.all; };
    const std::vector<PolicyGroup> policies = simulation::group_by_policy(simulated.runs);
    const auto mean_of = [&](const PolicyGroup& policy) {
        return over_seeds(policy, all, [](const Figures& figures) { return figures.mean_completion_s; }).mean;
    };
    // Who knows everything is a bound, not a competitor, unless it is alone.
    double best = std::numeric_limits<double>::infinity();
    double bound = best;
    for (const PolicyGroup& policy : policies) {
        double& least = policy.is_reference ? bound : best;
        least = std::fmin(least, mean_of(policy));
    }
    if (!std::isfinite(best)) best = bound;

    std::vector<Column> titles{{"POLICY"}, {"AGAINST BEST", Align::kRight, 3}};
    for (const FigureColumn& column : columns)
        titles.push_back(column.column);
    if (simulated.has_timing) titles.push_back({"DECISIONS/S", Align::kRight, 1});
    Table table(std::move(titles));
    for (const PolicyGroup& policy : policies) {
        const double mean = mean_of(policy);
        std::vector<Cell> cells{policy.name + (policy.is_partial ? " (partial)" : ""),
                                std::isfinite(mean) ? fmt::format("{:.2f}", mean / best) : "-"};
        for (const FigureColumn& column : columns)
            cells.emplace_back(with_interval(over_seeds(policy, all, column.value), column.format));
        if (simulated.has_timing) cells.emplace_back(with_interval(decision_rate(policy), whole));
        table.add_row(std::move(cells));
    }
    return table.render(style);
}

/// A part of the workload or the network that has figures of its own.
struct Part {
    std::string name;
    FiguresOf figures_of;
};

std::vector<Part> parts_of(const SimulatedRuns& simulated, const std::string& by)
{
    std::vector<Part> parts;
    const Scenario& scenario = simulated.joined->scenario;
    const auto add = [&](const std::string& name, std::vector<Figures> PolicyRun::* of, std::size_t index) {
        parts.push_back({name, [of, index](const PolicyRun& run) -> const Figures& { return (run.*of)[index]; }});
    };
    if (by == "project") {
        for (std::size_t i = 0; i < scenario.workload.projects.size(); ++i)
            add(scenario.workload.projects[i], &PolicyRun::by_project, i);
    } else {
        for (std::size_t i = 0; i < scenario.network.centers.size(); ++i)
            add(scenario.network.centers[i].name, &PolicyRun::by_center, i);
    }
    return parts;
}

std::string parts_table(const SimulatedRuns& simulated, const std::string& by, const TableStyle& style)
{
    std::vector<Part> parts = parts_of(simulated, by);
    const std::vector<PolicyGroup> policies = simulation::group_by_policy(simulated.runs);
    std::vector<FigureColumn> columns = common_columns();
    if (by == "center") columns.push_back(column_of("IN USE", 5, &Figures::utilization, format_percent));
    columns.push_back(column_of(cost_title(simulated), 5, &Figures::cost, format_number));
    columns.push_back(column_of("ENERGY kWh", 7, &Figures::energy_kwh, format_number));
    std::vector<Column> titles{{by == "center" ? "CENTER" : "PROJECT", Align::kLeft, 0, true}, {"POLICY"}};
    for (const FigureColumn& column : columns)
        titles.push_back(column.column);
    Table table(std::move(titles));
    for (std::size_t i = 0; i < std::min(parts.size(), kMaxParts); ++i) {
        for (const PolicyGroup& policy : policies) {
            std::vector<Cell> cells{parts[i].name.empty() ? "(none)" : parts[i].name, policy.name};
            for (const FigureColumn& column : columns)
                cells.emplace_back(with_interval(over_seeds(policy, parts[i].figures_of, column.value), column.format));
            table.add_row(std::move(cells));
        }
    }
    std::string text = table.render(style);
    if (parts.size() > kMaxParts)
        text += fmt::format("The first {} of {} are shown; --output json has all.\n", kMaxParts, parts.size());
    return text;
}

std::string knowledge_text(const simulation::KnowledgeSettings& knowledge)
{
    std::string text =
        fmt::format("rates known to {}, jobs to {}, reports {} old", format_percent(knowledge.measurement_noise),
                    format_percent(knowledge.job_noise), format_duration(knowledge.report_every_s));
    if (knowledge.drift_per_day > 0) text += ", rates drift " + format_percent(knowledge.drift_per_day) + " a day";
    return text + (knowledge.learns ? ", learns" : ", does not learn");
}

std::string description(const SimulatedRuns& simulated, const TableStyle& style)
{
    const Scenario& scenario = simulated.joined->scenario;
    const simulation::Workload& workload = scenario.workload;
    const auto count = [](std::size_t value) { return format_count(static_cast<std::int64_t>(value)); };
    std::int64_t unit_count = 0;
    for (const simulation::UnitType& unit_type : scenario.network.unit_types)
        unit_count += unit_type.unit_count;
    std::string jobs = fmt::format("{} ({}), {} jobs", workload.name, simulated.format, count(workload.jobs.size()));
    if (workload.first_counted > 0 || workload.end_counted < workload.jobs.size())
        jobs += fmt::format(", figures of {}:{}", workload.first_counted, workload.end_counted);
    const std::size_t centers = scenario.network.centers.size();
    const std::size_t unit_types = scenario.network.unit_types.size();
    return render_details(
        {{"Workload", jobs},
         {"Network", fmt::format("{} center{}, {} unit type{}, {} units", count(centers), centers == 1 ? "" : "s",
                                 count(unit_types), unit_types == 1 ? "" : "s", format_count(unit_count))},
         {"Load", std::isfinite(simulated.load) ? format_percent(simulated.load) : "-"},
         {"Knowledge", knowledge_text(scenario.knowledge)}},
        style);
}

std::string skips_text(const Scenario& scenario)
{
    std::string text;
    for (const simulation::InputSkips& skip : scenario.skips) {
        const bool has_more = static_cast<std::size_t>(skip.count) > skip.lines.size();
        text += fmt::format("  {:>8}  {}: line{} {}{}\n", format_count(skip.count), skip.rule,
                            skip.count == 1 ? "" : "s", fmt::join(skip.lines, ", "), has_more ? ", …" : "");
    }
    return text.empty() ? text : "\nLines of the workload that were left out or mended:\n" + text;
}

} // namespace

std::string render_simulated(const SimulatedRuns& simulated, const std::string& by, const TableStyle& style)
{
    std::string text = description(simulated, style) + "\n";
    if (simulated.is_partial) text += "PARTIAL: stopped before all jobs had ended; figures are of those that had.\n";
    if (simulated.runs.empty())
        text += "No policy was simulated.\n";
    else
        text += policies_table(simulated, style);
    if (!simulated.not_simulated.empty())
        text += fmt::format("Not simulated: {}\n", fmt::join(simulated.not_simulated, ", "));
    if (!by.empty() && !simulated.runs.empty()) text += "\n" + parts_table(simulated, by, style);
    return text + skips_text(simulated.joined->scenario);
}

} // namespace fathom::cli
