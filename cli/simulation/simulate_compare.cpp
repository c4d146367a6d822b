#include "cli/simulation/simulate_compare.hpp"

#include "cli/client/command_line.hpp"
#include "cli/text/format_units.hpp"
#include "core/base/csv_field.hpp"
#include "simulator/figures/figure_fields.hpp"

#include <fmt/format.h>

#include <cmath>
#include <functional>
#include <map>
#include <ostream>

namespace fathom::cli {
namespace {

using simulation::ComparedResult;
using simulation::Comparison;
using simulation::Figures;

/// A row of the table of figures.
struct ComparedRow {
    const char* title;
    std::function<double(const Figures&)> value;
    std::function<std::string(double)> format;
};

std::string compared_count(double value)
{
    return format_count(std::llround(value));
}

std::vector<ComparedRow> compared_rows(const Comparison& comparison)
{
    const auto figure = [](double Figures::* member) {
        return [member](const Figures& figures) { return figures.*member; };
    };
    const auto count = [](std::int64_t Figures::* member) {
        return [member](const Figures& figures) { return static_cast<double>(figures.*member); };
    };
    std::vector<ComparedRow> rows{{"jobs", count(&Figures::jobs), compared_count},
                                  {"ended", count(&Figures::ended), compared_count},
                                  {"mean wait", figure(&Figures::mean_wait_s), format_duration},
                                  {"95 % wait", figure(&Figures::p95_wait_s), format_duration},
                                  {"mean completion", figure(&Figures::mean_completion_s), format_duration},
                                  {"mean slowdown", figure(&Figures::mean_slowdown), format_number},
                                  {"95 % slowdown", figure(&Figures::p95_slowdown), format_number},
                                  {"units in use", figure(&Figures::utilization), format_percent}};
    if (comparison.before.has_prices || comparison.after.has_prices)
        rows.push_back({"cost", figure(&Figures::cost), format_number});
    return rows;
}

std::string figure_text(double value, const std::function<std::string(double)>& format)
{
    return std::isfinite(value) ? format(value) : "-";
}

/// "-12.0 %" of what it was; "-" where that says nothing.
std::string change_text(double before, double after)
{
    if (!std::isfinite(before) || !std::isfinite(after) || before <= 0) return "-";
    return fmt::format("{:+.1f} %", 100 * (after / before - 1));
}

std::string figures_table(const Comparison& comparison, const TableStyle& style)
{
    Table table({{"FIGURE"}, {"BEFORE", Align::kRight}, {"AFTER", Align::kRight}, {"CHANGE", Align::kRight, 1}});
    for (const ComparedRow& row : compared_rows(comparison)) {
        const double before = row.value(comparison.before.figures);
        const double after = row.value(comparison.after.figures);
        table.add_row(
            {row.title, figure_text(before, row.format), figure_text(after, row.format), change_text(before, after)});
    }
    return table.render(style);
}

/// "3 → 5"; "-" where a center is not there.
std::string both(const Figures* before, const Figures* after, const std::function<std::string(const Figures&)>& text)
{
    return (before == nullptr ? "-" : text(*before)) + " → " + (after == nullptr ? "-" : text(*after));
}

std::string centers_table(const Comparison& comparison, const TableStyle& style)
{
    std::map<std::string, std::pair<const Figures*, const Figures*>> centers;
    for (const simulation::CenterFigures& one : comparison.before.centers)
        centers[one.center].first = &one.figures;
    for (const simulation::CenterFigures& one : comparison.after.centers)
        centers[one.center].second = &one.figures;
    Table table({{"CENTER", Align::kLeft, 0, true},
                 {"JOBS", Align::kRight},
                 {"MEAN WAIT", Align::kRight, 1},
                 {"IN USE", Align::kRight}});
    for (const auto& [name, figures] : centers) {
        const auto& [before, after] = figures;
        table.add_row(
            {name, both(before, after, [](const Figures& one) { return format_count(one.jobs); }),
             both(before, after, [](const Figures& one) { return figure_text(one.mean_wait_s, format_duration); }),
             both(before, after, [](const Figures& one) { return figure_text(one.utilization, format_percent); })});
    }
    return table.render(style);
}

std::string left_out_text(const char* when, const ComparedResult& compared)
{
    std::string text;
    for (const simulation::InputSkips& skip : compared.left_out)
        text += fmt::format("{}: {} jobs are left out: {}\n", when, format_count(skip.count), skip.rule);
    return text;
}

/// A row for the network and for each center, before and after.
std::string comparison_csv(const Comparison& comparison)
{
    std::string text = "case,policy,center";
    for (const simulation::FigureField& field : simulation::figure_fields())
        text += fmt::format(",{}", field.name);
    text += "\n";
    const auto add = [&](const char* which, const ComparedResult& compared, const std::string& center,
                         const Figures& figures) {
        text += fmt::format("{},{},", which, compared.policy);
        append_csv(text, center);
        for (const simulation::FigureField& field : simulation::figure_fields()) {
            const double value = simulation::value_of(field, figures);
            text += std::isfinite(value) ? fmt::format(",{}", value) : ",";
        }
        text += "\n";
    };
    for (const auto& [which, compared] : {std::pair("before", &comparison.before), {"after", &comparison.after}}) {
        add(which, *compared, "", compared->figures);
        for (const simulation::CenterFigures& center : compared->centers)
            add(which, *compared, center.center, center.figures);
    }
    return text;
}

std::string comparison_text(const Comparison& comparison, const TableStyle& style)
{
    std::string text;
    if (comparison.before.was_stopped || comparison.after.was_stopped)
        text += "PARTIAL: stopped before all jobs had ended; figures are of those that had.\n";
    if (comparison.before.policy != comparison.after.policy)
        text += fmt::format("Policy: {} → {}\n", comparison.before.policy, comparison.after.policy);
    return text + figures_table(comparison, style) + "\n" + centers_table(comparison, style) +
           left_out_text("before", comparison.before) + left_out_text("after", comparison.after);
}

} // namespace

void print_comparison(Session& session, const SimulateOptions& options, const Comparison& comparison)
{
    std::ostream& out = *session.console().out;
    const std::string format = options.output.empty() ? (session.wants_json() ? "json" : "table") : options.output;
    if (format == "json")
        print_json(session, simulation::to_json(comparison));
    else if (format == "csv")
        out << comparison_csv(comparison);
    else
        out << comparison_text(comparison, table_style(session));
}

} // namespace fathom::cli
