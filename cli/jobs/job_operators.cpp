#include "cli/jobs/job_operators.hpp"

#include "cli/client/json_view.hpp"
#include "cli/jobs/left_out.hpp"
#include "cli/jobs/own_loops.hpp"
#include "cli/text/display_text.hpp"
#include "cli/text/format_units.hpp"

#include <map>

namespace fathom::cli {
namespace {

std::string source_text(const Json& work)
{
    const std::string source = text_of(work, "source");
    if (source == "profile") return "counted while it ran";
    if (source == "given") return "as the job was submitted with them";
    if (source == "type") return "as its type learned them from " + text_of(work, "operators_from");
    return "not known; submit it with `--operators`, or have it profiled";
}

std::string share_text(const Json& json, std::string_view name)
{
    const std::optional<double> share = number_of(json, name);
    return share ? format_percent(*share) : "-";
}

/// Of an operator of a profiled run: what probes of its units let expect; "-" where nothing was measured.
std::string expected_text(const Json& one)
{
    const Json& outcome = member(one, "outcome");
    if (!number_of(outcome, "predicted_s")) return "-";
    return duration_of(outcome, "predicted_s") + " (" +
           format_interval(number_of(outcome, "low_s").value_or(0), number_of(outcome, "high_s").value_or(0)) + ")";
}

/// "memory 12 %, waiting 3 %": every figure between 0 and 1 that the remainder has.
std::string remainder_text(const Json& work)
{
    const Json& remainder = member(work, "remainder");
    if (!remainder.is_object()) return "-";
    std::string text;
    for (const auto& [name, value] : remainder.items()) {
        if (!value.is_number() || value.get<double>() < 0 || value.get<double>() > 1) continue;
        text += (text.empty() ? "" : ", ") + printable(name) + " " + format_percent(value.get<double>());
    }
    return text.empty() ? "-" : text;
}

Table operators_table(const Json& work)
{
    Table table({{"PICK"},
                 {"SIZE", Align::kLeft, 0, true},
                 {"CLASS", Align::kLeft, 2},
                 {"COUNT", Align::kRight},
                 {"SHARE", Align::kRight},
                 {"PREDICTED", Align::kRight, 4},
                 {"ACTUAL", Align::kRight, 4},
                 {"CATEGORY", Align::kLeft, 3},
                 {"STANDS FOR", Align::kLeft, 1}});
    std::map<std::string, int> seen;
    for (const Json& one : items_of(work, "operators")) {
        const std::string id = text_of(one, "id");
        const std::string remainder = text_of(one, "remainder", "");
        table.add_row({id + ":" + std::to_string(++seen[id]), parameters_of(one, "parameters"),
                       text_of(one, "size_class"), count_of(one, "count"), share_text(one, "share"), expected_text(one),
                       duration_of(member(one, "outcome"), "actual_s"), text_of(one, "category"),
                       remainder.empty() ? std::string("itself") : "other " + remainder + "-bound work"});
    }
    return table;
}

Table unmatched_table(const Json& work)
{
    Table table({{"NOT MATCHED"}, {"CALLS", Align::kRight}, {"SHARE", Align::kRight}});
    for (const Json& one : items_of(work, "unmatched"))
        table.add_row({text_of(one, "symbol"), count_of(one, "calls"), share_text(one, "share")});
    return table;
}

std::string operators_text(Session& session, const Json& work)
{
    const TableStyle style = table_style(session);
    std::vector<std::pair<std::string, Cell>> details{
        {"Job", text_of(work, "job_id")},          {"Type", text_of(work, "type")},
        {"Operators", source_text(work)},          {"Run", duration_of(work, "wall_s")},
        {"Covered", share_text(work, "coverage")}, {"The rest", remainder_text(work)}};
    for (auto& detail : left_out_details(work))
        details.push_back(std::move(detail));
    std::string text = render_details(details, style);
    if (const Table table = operators_table(work); !table.empty()) text += "\n" + table.render(style);
    if (const Table table = loops_table(loops_of_job(work)); !table.empty()) text += "\n" + table.render(style);
    if (const Table table = unmatched_table(work); !table.empty()) text += "\n" + table.render(style);
    return text;
}

Outcome show_operators(Session& session, const NameOptions& options)
{
    return print_answer(session, session.get("/jobs/" + path_segment(options.name) + "/operators"),
                        [&](const Json& work) { return operators_text(session, work); });
}

} // namespace

void add_job_operators_command(CLI::App& job, Invocation& invocation)
{
    add_named_verb(job, invocation,
                   {"operators", "Which operators it executes, how often, and for how much of its time",
                    "fathom job operators job_01JD0000000000000000000000"},
                   {"ID", "The job's id"}, show_operators);
}

} // namespace fathom::cli
