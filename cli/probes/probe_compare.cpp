#include "cli/probes/probe_compare.hpp"

#include "cli/client/json_view.hpp"
#include "cli/text/format_units.hpp"

#include <algorithm>
#include <ostream>
#include <tuple>
#include <vector>

namespace fathom::cli {
namespace {

struct CompareOptions {
    std::string order;
    std::string task;
    bool is_single = false; ///< by the runs alone, not by what several results of each place say together
};

/// "dgemm m=1024, n=1024 · units: 2".
std::string title_of(const Json& group)
{
    return text_of(group, "operator_id") + " " + parameters_of(group, "parameters") +
           ", units: " + count_of(group, "unit_count");
}

/// What a place is compared by: median, interval, ratio and tie of its newest results together, or of the run alone.
/// An older server knows the run alone.
const Json& figures_of(const Json& place, bool is_single)
{
    const Json& together = member(place, "together");
    return is_single || !together.is_object() ? place : together;
}

const Json& runs_together(const Json& place)
{
    return items_of(member(place, "together"), "probe_run_ids");
}

/// Whether the run is not among the results that count together.
bool is_superseded(const Json& place)
{
    const Json& runs = runs_together(place);
    return !runs.empty() && std::find(runs.begin(), runs.end(), member(place, "probe_run_id")) == runs.end();
}

/// Best first; the address keeps the server's order among equals.
std::vector<const Json*> sorted_places(const Json& group, bool is_single)
{
    std::vector<const Json*> places;
    for (const Json& place : items_of(group, "places"))
        places.push_back(&place);
    const auto key_of = [is_single](const Json* place) {
        return std::tuple(number_of(figures_of(*place, is_single), "median_s").value_or(0), place);
    };
    std::sort(places.begin(), places.end(), [&](const Json* a, const Json* b) { return key_of(a) < key_of(b); });
    return places;
}

Table comparison_table(bool is_single)
{
    std::vector<Column> columns{{"PLACE"},
                                {"MEDIAN", Align::kRight},
                                {"95 % INTERVAL", Align::kRight, 1},
                                {"TO BEST", Align::kRight},
                                {"", Align::kLeft}};
    if (!is_single) {
        columns.push_back({"RESULTS", Align::kRight});
        columns.push_back({"THIS RUN", Align::kRight, 2});
    }
    columns.push_back({"SAMPLES", Align::kRight, 4});
    columns.push_back({"ERROR", Align::kRight, 3});
    columns.push_back({"RUN", Align::kLeft, 5});
    return Table(std::move(columns));
}

std::string group_text(const Json& group, bool is_single, const TableStyle& style)
{
    Table table = comparison_table(is_single);
    bool is_best = true;
    for (const Json* const place : sorted_places(group, is_single)) {
        const Json& figures = figures_of(*place, is_single);
        const Cell standing =
            is_best ? Cell("best", Tone::kGood) : Cell(is_true(figures, "is_tied") ? "tied" : "", Tone::kPending);
        is_best = false;
        std::vector<Cell> row{
            text_of(*place, "center") + "/" + text_of(*place, "unit_type"), duration_of(figures, "median_s"),
            format_interval(number_of(figures, "ci_low_s").value_or(0), number_of(figures, "ci_high_s").value_or(0)),
            format_number(number_of(figures, "ratio").value_or(1)) + "x", standing};
        if (!is_single) {
            const std::size_t count = runs_together(*place).size();
            row.push_back(count == 0 ? std::string("-") : std::to_string(count));
            row.push_back(duration_of(*place, "median_s") + (is_superseded(*place) ? " *" : ""));
        }
        row.push_back(count_of(*place, "sample_count"));
        row.push_back(format_error(number_of(*place, "error").value_or(0)));
        row.push_back(text_of(*place, "probe_run_id"));
        table.add_row(std::move(row));
    }
    return title_of(group) + "\n" + table.render(style);
}

/// What the tables' figures rest on, where that is less than it seems.
std::string notes_text(const Json& report)
{
    bool has_one_result = false;
    bool has_superseded = false;
    for (const Json& group : items_of(report, "comparison")) {
        for (const Json& place : items_of(group, "places")) {
            has_one_result = has_one_result || runs_together(place).size() == 1;
            has_superseded = has_superseded || is_superseded(place);
        }
    }
    std::string text;
    if (has_one_result)
        text += "Where RESULTS is 1, how far results there differ is not known yet: a difference may be chance.\n";
    if (has_superseded)
        text += "* does not count any more: newer results tell of a change since, or are as many as count.\n";
    return text;
}

/// Runs that gave nothing to compare, one line each.
std::string missing_text(const Json& report)
{
    std::string text;
    for (const Json& run : items_of(report, "runs")) {
        const std::string state = text_of(run, "state");
        if (state == "succeeded") continue;
        text += "Not compared: " + text_of(run, "center") + "/" + text_of(run, "unit_type") +
                ", units: " + count_of(run, "unit_count") + ": " + state + " " + text_of(run, "error", "") + "\n";
    }
    return text;
}

std::string report_text(const Json& report, bool is_single, const TableStyle& style)
{
    std::string text;
    for (const Json& group : items_of(report, "comparison"))
        text += (text.empty() ? "" : "\n") + group_text(group, is_single, style);
    if (text.empty()) text = "Nothing to compare yet: no run has succeeded.\n";
    const std::string remarks = (is_single ? std::string() : notes_text(report)) + missing_text(report);
    return remarks.empty() ? text : text + "\n" + remarks;
}

Outcome compare(Session& session, const CompareOptions& options)
{
    if (options.order.empty() == options.task.empty())
        return Error{Errc::kInvalid, "give an order's id, or --task with the id of a probe task"};
    const std::string path = options.task.empty() ? "/probe-orders/" + path_segment(options.order)
                                                  : "/probe-tasks/" + path_segment(options.task) + "/comparison";
    return print_answer(session, session.get(path), [&](const Json& report) {
        return report_text(report, options.is_single, table_style(session));
    });
}

} // namespace

void add_probe_compare(CLI::App& probe, Invocation& invocation)
{
    auto options = std::make_shared<CompareOptions>();
    CLI::App& verb = add_verb(
        probe, "compare",
        "The same task on the same count of units, place by place, best first; several results of a place count "
        "together",
        "fathom probe compare prn_01JD0000000000000000000000");
    auto* const order =
        verb.add_option("ORDER", options->order, "Id of an order of `fathom probe run`: its runs computed the same");
    verb.add_option("--task", options->task, "Id of a probe task: its newest result at each place")->excludes(order);
    verb.add_flag("--single", options->is_single,
                  "By the results of these runs alone, without others of the same places");
    on_chosen(verb, invocation, std::move(options), compare);
}

} // namespace fathom::cli
