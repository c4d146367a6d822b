#include "simulator/report/report_scenario.hpp"

#include "cli/text/format_units.hpp"
#include "core/decide/statistics/sample_statistics.hpp"
#include "simulator/figures/job_figures.hpp"
#include "simulator/report/report_markup.hpp"
#include "simulator/report/report_tables.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

namespace fathom::simulation {
namespace {

constexpr std::size_t kMaxUnitTypes = 60;
constexpr std::size_t kMaxNames = 40;  ///< of job types
constexpr double kScenarioHour = 3600; ///< seconds

using Facts = std::vector<std::pair<std::string, std::string>>;

std::string price_text(const UnitType& type, const ReportTexts& texts)
{
    const auto [least, most] = std::minmax_element(type.price.per_hour().begin(), type.price.per_hour().end());
    if (*most == 0) return std::string(texts.none);
    if (*least == *most) return cli::format_number(*least);
    return fmt::format(fmt::runtime(texts.price_between), cli::format_number(*least), cli::format_number(*most));
}

std::string power_text(const UnitType& type, const ReportTexts& texts)
{
    if (type.price.unit_power_w() <= 0 && type.idle_power_w <= 0) return std::string(texts.none);
    const auto known = [](double power_w) { return power_w > 0 ? cli::format_number(power_w) : std::string("–"); };
    return fmt::format(fmt::runtime(texts.power_busy_idle), known(type.price.unit_power_w()), known(type.idle_power_w));
}

std::string failures_text(const UnitFailures& failures, const ReportTexts& texts)
{
    if (failures.mean_between_s <= 0) return std::string(texts.none);
    return fmt::format(fmt::runtime(texts.every), cli::format_duration(failures.mean_between_s),
                       cli::format_duration(failures.mean_repair_s));
}

std::string closures_text(const Center& center, const ReportTexts& texts)
{
    if (center.closures.empty()) return std::string(texts.none);
    double closed_s = 0;
    for (const Closure& closure : center.closures)
        closed_s += closure.to_s - closure.from_s;
    return fmt::format(fmt::runtime(texts.closures_of), center.closures.size(), cli::format_duration(closed_s));
}

/// Leaves out columns in which no row has anything.
void drop_empty_columns(std::vector<std::string>& headings, std::vector<std::vector<std::string>>& rows,
                        const std::string& nothing)
{
    for (std::size_t column = headings.size(); column-- > 0;) {
        if (!std::all_of(rows.begin(), rows.end(), [&](const auto& row) { return row[column] == nothing; })) continue;
        const auto at = static_cast<std::ptrdiff_t>(column);
        headings.erase(headings.begin() + at);
        for (std::vector<std::string>& row : rows)
            row.erase(row.begin() + at);
    }
}

std::string network_table(const Network& network, const ReportTexts& texts)
{
    const std::string none(texts.none);
    std::vector<std::vector<std::string>> rows;
    for (const UnitType& type : network.unit_types) {
        if (rows.size() == kMaxUnitTypes) break;
        const Center& center = network.centers[type.center];
        rows.push_back({center.name, type.name, cli::format_count(type.unit_count), price_text(type, texts),
                        power_text(type, texts), failures_text(type.failures, texts),
                        center.start_up_s > 0 ? cli::format_duration(center.start_up_s) : none,
                        closures_text(center, texts)});
        for (std::string& cell : rows.back())
            cell = escaped(cell);
    }
    std::vector<std::string> headings{
        std::string(texts.center),   std::string(texts.unit_type),
        std::string(texts.units),    fmt::format(fmt::runtime(texts.price), network.currency),
        std::string(texts.power),    std::string(texts.failures),
        std::string(texts.start_up), std::string(texts.closures)};
    for (std::string& heading : headings)
        heading = escaped(heading);
    drop_empty_columns(headings, rows, none);
    std::string result = table_of(headings, rows, TableOf::kText);
    if (network.unit_types.size() > rows.size())
        result += element("p", fmt::format(fmt::runtime(texts.more_rows), network.unit_types.size() - rows.size()));
    return result;
}

std::string policies_table(std::span<const PolicyGroup> policies, const ReportTexts& texts)
{
    Facts facts;
    for (const PolicyGroup& policy : policies) {
        std::string_view title;
        for (const std::span<const PolicyName> titles : {policy_names(), texts.policy_titles}) {
            for (const PolicyName& one : titles) {
                if (one.name == policy_of(policy.name)) title = one.title;
            }
        }
        facts.emplace_back(policy.name, title);
    }
    return facts_table(facts);
}

std::string job_type_names(const Network& network, const ReportTexts& texts)
{
    std::string names;
    for (std::size_t i = 0; i < std::min(network.job_types.size(), kMaxNames); ++i)
        names += (i > 0 ? ", " : "") + network.job_types[i].name;
    if (network.job_types.size() > kMaxNames)
        names += " " + fmt::format(fmt::runtime(texts.more_rows), network.job_types.size() - kMaxNames);
    return fmt::format("{}: {}", network.job_types.size(), names);
}

/// Of the counted jobs.
struct WorkloadFigures {
    std::vector<double> run_s; ///< at best, ascending; finite ones
    double run_sum_s = 0;
    double units = 0;
    std::int64_t max_units = 0;
    std::set<std::uint32_t> projects;
    std::set<std::uint32_t> users;
};

WorkloadFigures figures_of(const Scenario& scenario)
{
    WorkloadFigures figures;
    JobFigurer figurer(scenario);
    for (std::size_t i = scenario.workload.first_counted; i < scenario.workload.end_counted; ++i) {
        const Job& job = scenario.workload.jobs[i];
        const double run_s = figurer.shortest_s(job);
        if (std::isfinite(run_s)) figures.run_s.push_back(run_s);
        figures.run_sum_s += std::isfinite(run_s) ? run_s : 0;
        figures.units += job.unit_count;
        figures.max_units = std::max<std::int64_t>({figures.max_units, job.unit_count, job.max_units});
        figures.projects.insert(job.project);
        figures.users.insert(job.user);
    }
    std::sort(figures.run_s.begin(), figures.run_s.end());
    return figures;
}

std::string workload_table(const Scenario& scenario, double load, const ReportTexts& texts)
{
    const Workload& workload = scenario.workload;
    const std::size_t counted = workload.end_counted - workload.first_counted;
    Facts facts{{std::string(texts.workload_name), workload.name}};
    const std::string jobs = cli::format_count(static_cast<std::int64_t>(workload.jobs.size()));
    facts.emplace_back(texts.jobs_row, counted == workload.jobs.size()
                                           ? jobs
                                           : fmt::format(fmt::runtime(texts.workload_jobs), jobs,
                                                         cli::format_count(static_cast<std::int64_t>(counted))));
    if (counted == 0) return facts_table(facts);
    const WorkloadFigures figures = figures_of(scenario);
    const double span_s =
        workload.jobs[workload.end_counted - 1].arrival_s - workload.jobs[workload.first_counted].arrival_s;
    const auto count = static_cast<double>(counted);
    if (span_s > 0)
        facts.emplace_back(texts.arrivals_row, fmt::format(fmt::runtime(texts.arrivals), cli::format_duration(span_s),
                                                           cli::format_number(count / (span_s / kScenarioHour))));
    if (!figures.run_s.empty())
        facts.emplace_back(
            texts.work_row,
            fmt::format(fmt::runtime(texts.work), cli::format_duration(quantile(figures.run_s, 0.5)),
                        cli::format_duration(figures.run_sum_s / static_cast<double>(figures.run_s.size()))));
    facts.emplace_back(texts.job_units_row,
                       fmt::format(fmt::runtime(texts.job_units), cli::format_number(figures.units / count),
                                   cli::format_count(figures.max_units)));
    facts.emplace_back(texts.projects_row,
                       fmt::format(fmt::runtime(texts.projects_users), figures.projects.size(), figures.users.size()));
    facts.emplace_back(texts.job_types_row, job_type_names(scenario.network, texts));
    if (std::isfinite(load)) facts.emplace_back(texts.load, cli::format_percent(load));
    return facts_table(facts);
}

std::string knowledge_table(const KnowledgeSettings& knowledge, const ReportTexts& texts)
{
    const auto percent = [](double deviation) { return "± " + cli::format_percent(deviation); };
    const std::string no(texts.no);
    return facts_table(
        {{std::string(texts.measurement_noise), percent(knowledge.measurement_noise)},
         {std::string(texts.job_noise), percent(knowledge.job_noise)},
         {std::string(texts.run_noise), percent(knowledge.run_noise)},
         {std::string(texts.measure_every), cli::format_duration(knowledge.measure_every_s)},
         {std::string(texts.drift), knowledge.drift_per_day > 0 ? percent(knowledge.drift_per_day) : no},
         {std::string(texts.report_every), cli::format_duration(knowledge.report_every_s)},
         {std::string(texts.learns), knowledge.learns ? fmt::format(fmt::runtime(texts.learns_every),
                                                                    cli::format_duration(knowledge.learn_every_s))
                                                      : no},
         {std::string(texts.estimates),
          std::string(knowledge.trusts_estimates ? texts.estimates_trusted : texts.estimates_not)}});
}

std::string skips_table(const std::vector<InputSkips>& skips, const ReportTexts& texts)
{
    if (skips.empty()) return element("p", texts.nothing_skipped);
    std::vector<std::vector<std::string>> rows;
    rows.reserve(skips.size());
    for (const InputSkips& skip : skips)
        rows.push_back({escaped(skip.rule), cli::format_count(skip.count),
                        fmt::format("{}{}", fmt::join(skip.lines, ", "),
                                    skip.count > static_cast<std::int64_t>(skip.lines.size()) ? ", …" : "")});
    return table_of({escaped(texts.skip_rule), escaped(texts.skip_count), escaped(texts.skip_lines)}, rows,
                    TableOf::kText);
}

} // namespace

std::string scenario_section(const Scenario& scenario, std::span<const PolicyGroup> policies, double load,
                             const ReportTexts& texts)
{
    return enclosed("section", element("h2", texts.simulated) + element("h3", texts.network) +
                                   network_table(scenario.network, texts) + element("h3", texts.workload) +
                                   workload_table(scenario, load, texts) + element("h3", texts.policies) +
                                   policies_table(policies, texts) + element("h3", texts.knowledge) +
                                   knowledge_table(scenario.knowledge, texts));
}

std::string origin_section(const Scenario& scenario, std::span<const PolicyGroup> policies,
                           const ReportOptions& options, const ReportTexts& texts)
{
    std::set<std::uint64_t> seeds;
    for (const PolicyGroup& policy : policies) {
        for (const PolicyRun* const run : policy.runs)
            seeds.insert(run->seed);
    }
    Facts facts{{std::string(texts.version), "Fathom " FATHOM_VERSION},
                {std::string(texts.seeds), fmt::format("{}", fmt::join(seeds, ", "))}};
    if (!options.command.empty()) facts.emplace_back(texts.command, options.command);
    return enclosed("section", element("h2", texts.skipped) + skips_table(scenario.skips, texts) +
                                   element("h2", texts.made_with) + facts_table(facts));
}

std::int64_t units_of(const Network& network)
{
    std::int64_t units = 0;
    for (const UnitType& type : network.unit_types)
        units += type.unit_count;
    return units;
}

} // namespace fathom::simulation
