#include "simulator/report/report_tables.hpp"

#include "cli/text/format_units.hpp"
#include "simulator/figures/confidence.hpp"
#include "simulator/report/report_markup.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace fathom::simulation {
namespace {

constexpr std::size_t kMaxRows = 50;
constexpr std::size_t kMinRows = 10;
constexpr std::size_t kMaxRowsInAll = 600; ///< of all policies together: the page stays small

/// Of interest to some scenarios only.
constexpr std::array kOnlyIfPositive{FigureId::kCost,       FigureId::kEnergy,     FigureId::kIdleEnergy,
                                     FigureId::kImpossible, FigureId::kUnfinished, FigureId::kFailedAttempts};

const Figures& all_of(const PolicyRun& run)
{
    return run.all;
}

/// Where all policies have nothing, or nothing but zero in a figure that is of interest to some scenarios only.
bool is_empty_row(FigureId figure, const std::vector<Confidence>& values)
{
    const bool is_optional = std::find(kOnlyIfPositive.begin(), kOnlyIfPositive.end(), figure) != kOnlyIfPositive.end();
    return std::all_of(values.begin(), values.end(), [&](const Confidence& value) {
        return std::isnan(value.mean) || (is_optional && value.mean == 0);
    });
}

/// Whether it is the best of those values. Where all are alike none is.
bool is_best(FigureId figure, double value, const std::vector<Confidence>& values)
{
    const BetterIs better = better_of(figure);
    if (better == BetterIs::kNeither || std::isnan(value)) return false;
    bool is_better_than_one = false;
    for (const Confidence& other : values) {
        if (std::isnan(other.mean)) continue;
        if (better == BetterIs::kLess ? other.mean < value : other.mean > value) return false;
        is_better_than_one = is_better_than_one || other.mean != value;
    }
    return is_better_than_one;
}

/// @param mark  before the value; empty: it is not the best.
std::string value_cell(const Confidence& value, FigureId figure, const std::string& currency, const std::string& mark)
{
    std::string cell = escaped(shown(figure, value.mean, currency));
    if (!mark.empty()) cell = mark + enclosed("strong", cell);
    if (std::isfinite(value.half_width))
        cell += element("span class=\"interval\"", "± " + shown(figure, value.half_width, currency));
    return cell;
}

std::string policy_heading(const PolicyGroup& policy, const ReportTexts& texts)
{
    std::string heading = escaped(policy.name);
    if (policy.is_partial) heading += element("span class=\"mark\"", texts.partial_mark);
    return heading;
}

/// A part of the network, or of what it is for, with its figures in each run.
struct Part {
    std::string name;
    std::function<const Figures&(const PolicyRun&)> of;
};

constexpr std::array kPartFigures{FigureId::kMeanCompletion,
                                  FigureId::kP95Completion,
                                  FigureId::kMeanWait,
                                  FigureId::kMeanSlowdown,
                                  FigureId::kMeanFinishTimeFairness,
                                  FigureId::kUtilization,
                                  FigureId::kMissedDeadlines,
                                  FigureId::kCost,
                                  FigureId::kEnergy};

double jobs_of(const PolicyGroup& policy, const Part& part)
{
    double jobs = 0;
    for (const PolicyRun* const run : policy.runs)
        jobs += static_cast<double>(part.of(*run).jobs);
    return jobs / static_cast<double>(policy.runs.size());
}

std::string part_table(const PolicyGroup& policy, std::vector<Part> parts, std::string_view heading,
                       const std::string& currency, std::size_t most_rows, const ReportTexts& texts)
{
    std::sort(parts.begin(), parts.end(), [&](const Part& a, const Part& b) {
        const double of_a = jobs_of(policy, a);
        const double of_b = jobs_of(policy, b);
        return of_a != of_b ? of_a > of_b : a.name < b.name;
    });
    const std::size_t left_out = parts.size() > most_rows ? parts.size() - most_rows : 0;
    parts.resize(parts.size() - left_out);

    std::vector<std::string> headings{escaped(heading), escaped(texts.jobs)};
    std::vector<std::vector<std::string>> rows;
    rows.reserve(parts.size());
    for (const Part& part : parts)
        rows.push_back({escaped(part.name), escaped(shown_count(jobs_of(policy, part)))});
    for (const FigureId figure : kPartFigures) {
        std::vector<Confidence> values;
        values.reserve(parts.size());
        for (const Part& part : parts)
            values.push_back(over_seeds(policy, figure, part.of));
        if (is_empty_row(figure, values)) continue;
        headings.push_back(escaped(texts.of(figure).name));
        for (std::size_t i = 0; i < parts.size(); ++i)
            rows[i].push_back(escaped(shown(figure, values[i].mean, currency)));
    }
    std::string result = table_of(headings, rows);
    if (left_out > 0) result += element("p", fmt::format(fmt::runtime(texts.more_rows), left_out));
    return result;
}

std::vector<Part> projects_of(const Workload& workload, const ReportTexts& texts)
{
    std::vector<Part> parts;
    for (std::size_t i = 0; i < workload.projects.size(); ++i) {
        const std::string& name = workload.projects[i];
        parts.push_back({name.empty() ? std::string(texts.no_project_name) : name,
                         [i](const PolicyRun& run) -> const Figures& { return run.by_project[i]; }});
    }
    return parts;
}

std::vector<Part> centers_of(const Network& network)
{
    std::vector<Part> parts;
    parts.reserve(network.centers.size());
    for (std::size_t i = 0; i < network.centers.size(); ++i)
        parts.push_back(
            {network.centers[i].name, [i](const PolicyRun& run) -> const Figures& { return run.by_center[i]; }});
    return parts;
}

} // namespace

std::string comparison_table(const Scenario& scenario, std::span<const PolicyGroup> policies, const ReportTexts& texts)
{
    std::vector<std::string> headings{escaped(texts.figure)};
    for (const PolicyGroup& policy : policies)
        headings.push_back(policy_heading(policy, texts));
    const std::string mark = fmt::format(R"(<span class="best" title="{}">★</span> )", escaped(texts.best_mark));
    std::vector<std::vector<std::string>> rows;
    for (std::size_t i = 0; i < texts.figures.size(); ++i) {
        const auto figure = static_cast<FigureId>(i);
        std::vector<Confidence> values;
        for (const PolicyGroup& policy : policies)
            values.push_back(over_seeds(policy, figure, all_of));
        if (is_empty_row(figure, values)) continue;
        std::vector<std::string>& row = rows.emplace_back();
        row.push_back(element(fmt::format("a href=\"#figure-{}\"", i), texts.of(figure).name));
        std::vector<Confidence> choices;
        for (std::size_t k = 0; k < policies.size(); ++k) {
            if (!policies[k].is_reference) choices.push_back(values[k]);
        }
        for (std::size_t k = 0; k < policies.size(); ++k) {
            const bool is_marked = !policies[k].is_reference && is_best(figure, values[k].mean, choices);
            row.push_back(value_cell(values[k], figure, scenario.network.currency, is_marked ? mark : ""));
        }
    }
    return table_of(headings, rows);
}

std::string part_tables(const Scenario& scenario, std::span<const PolicyGroup> policies, const ReportTexts& texts)
{
    const std::size_t most_rows = std::clamp(kMaxRowsInAll / (2 * policies.size()), kMinRows, kMaxRows);
    const std::string& currency = scenario.network.currency;
    std::string result;
    for (const PolicyGroup& policy : policies) {
        std::string content = element("h4", texts.projects);
        content += part_table(policy, projects_of(scenario.workload, texts), texts.project, currency, most_rows, texts);
        content += element("h4", texts.centers);
        content += part_table(policy, centers_of(scenario.network), texts.center, currency, most_rows, texts);
        const std::string summary = element("summary", fmt::format(fmt::runtime(texts.parts_of), policy.name));
        result += enclosed(result.empty() ? "details open=\"open\"" : "details", summary + content);
    }
    return result;
}

std::string definitions_section(const ReportTexts& texts)
{
    std::string list;
    for (std::size_t i = 0; i < texts.figures.size(); ++i) {
        list += element(fmt::format("dt id=\"figure-{}\"", i), texts.figures[i].name);
        list += element("dd", texts.figures[i].definition);
    }
    return enclosed("section", element("h2", texts.definitions) + element("p", texts.definitions_note) +
                                   enclosed("dl class=\"definitions\"", list));
}

std::string table_of(const std::vector<std::string>& headings, const std::vector<std::vector<std::string>>& rows,
                     TableOf content)
{
    std::string head;
    for (const std::string& heading : headings)
        head += enclosed("th scope=\"col\"", heading);
    std::string body;
    for (const std::vector<std::string>& row : rows) {
        std::string cells;
        for (const std::string& cell : row)
            cells += enclosed(cells.empty() ? "th scope=\"row\"" : "td", cell);
        body += enclosed("tr", cells) + "\n";
    }
    // A place to stop at with the keyboard, so that it can be scrolled with it.
    return enclosed("div class=\"scroll\" tabindex=\"0\"",
                    enclosed(content == TableOf::kText ? "table class=\"text\"" : "table",
                             enclosed("thead", enclosed("tr", head)) + enclosed("tbody", body)));
}

std::string facts_table(const std::vector<std::pair<std::string, std::string>>& rows)
{
    std::string body;
    for (const auto& [name, value] : rows)
        body += enclosed("tr", element("th scope=\"row\"", name) + element("td", value)) + "\n";
    return enclosed("table class=\"facts\"", enclosed("tbody", body));
}

} // namespace fathom::simulation
