#include "cli/client/json_view.hpp"
#include "cli/probes/commands.hpp"
#include "cli/text/format_units.hpp"

#include <ostream>

namespace fathom::cli {
namespace {

struct CompareOptions {
    std::string order;
    std::string task;
};

/// "dgemm m=1024, n=1024 · units: 2".
std::string title_of(const Json& group)
{
    return text_of(group, "operator_id") + " " + parameters_of(group, "parameters") +
           ", units: " + count_of(group, "unit_count");
}

std::string group_text(const Json& group, const TableStyle& style)
{
    Table table({{"PLACE"},
                 {"MEDIAN", Align::kRight},
                 {"95 % INTERVAL", Align::kRight, 1},
                 {"TO BEST", Align::kRight},
                 {"", Align::kLeft},
                 {"SAMPLES", Align::kRight, 3},
                 {"ERROR", Align::kRight, 2},
                 {"RUN", Align::kLeft, 4}});
    bool is_best = true;
    for (const Json& place : items_of(group, "places")) {
        const bool is_tied = member(place, "is_tied").is_boolean() && member(place, "is_tied").get<bool>();
        const Cell standing = is_best ? Cell("best", Tone::kGood) : Cell(is_tied ? "tied" : "", Tone::kPending);
        is_best = false;
        table.add_row(
            {text_of(place, "center") + "/" + text_of(place, "unit_type"), duration_of(place, "median_s"),
             format_interval(number_of(place, "ci_low_s").value_or(0), number_of(place, "ci_high_s").value_or(0)),
             format_number(number_of(place, "ratio").value_or(1)) + "x", standing, count_of(place, "sample_count"),
             format_error(number_of(place, "error").value_or(0)), text_of(place, "probe_run_id")});
    }
    return title_of(group) + "\n" + table.render(style);
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

std::string report_text(const Json& report, const TableStyle& style)
{
    std::string text;
    for (const Json& group : items_of(report, "comparison"))
        text += (text.empty() ? "" : "\n") + group_text(group, style);
    if (text.empty()) text = "Nothing to compare yet: no run has succeeded.\n";
    const std::string missing = missing_text(report);
    return missing.empty() ? text : text + "\n" + missing;
}

Outcome compare(Session& session, const CompareOptions& options)
{
    if (options.order.empty() == options.task.empty())
        return Error{Errc::kInvalid, "give an order's id, or --task with the id of a probe task"};
    const std::string path = options.task.empty() ? "/probe-orders/" + path_segment(options.order)
                                                  : "/probe-tasks/" + path_segment(options.task) + "/comparison";
    return print_answer(session, session.get(path),
                        [&](const Json& report) { return report_text(report, table_style(session)); });
}

} // namespace

void add_probe_compare(CLI::App& probe, Invocation& invocation)
{
    auto options = std::make_shared<CompareOptions>();
    CLI::App& verb = add_verb(probe, "compare", "The same task on the same count of units, place by place, best first",
                              "fathom probe compare prn_01JD0000000000000000000000");
    auto* const order =
        verb.add_option("ORDER", options->order, "Id of an order of `fathom probe run`: its runs computed the same");
    verb.add_option("--task", options->task, "Id of a probe task: its newest result at each place")->excludes(order);
    on_chosen(verb, invocation, std::move(options), compare);
}

} // namespace fathom::cli
