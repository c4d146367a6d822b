#include "cli/jobs/job_type.hpp"

#include "cli/client/json_view.hpp"
#include "cli/jobs/left_out.hpp"
#include "cli/jobs/own_loops.hpp"
#include "cli/text/display_text.hpp"
#include "cli/text/format_units.hpp"

namespace fathom::cli {
namespace {

std::string mix_text(const Json& type)
{
    std::string text;
    const Json& mix = member(type, "mix");
    if (!mix.is_object()) return "-";
    for (const auto& [part, share] : mix.items()) {
        if (share.is_number())
            text += (text.empty() ? "" : ", ") + printable(part) + " " + format_percent(share.get<double>());
    }
    return text.empty() ? "-" : text;
}

std::string knowledge_of(const Json& type)
{
    return is_true(type, "profiled") ? "counted while it ran" : "named by its submitter";
}

Table types_table(const Json& types, Timestamp now)
{
    Table table({{"TYPE", Align::kLeft, 0, true},
                 {"FROM", Align::kLeft, 2},
                 {"MIX", Align::kLeft, 1, true},
                 {"LEARNED", Align::kRight},
                 {"OPERATORS WERE", Align::kLeft, 3},
                 {"PROBE TASK", Align::kLeft, 1}});
    for (const Json& type : types)
        table.add_row({text_of(type, "name"), text_of(type, "origin"), mix_text(type), age_of(type, "learned_at", now),
                       knowledge_of(type), text_of(type, "probe_task_id")});
    return table;
}

std::string type_text(Session& session, const Json& type)
{
    const TableStyle style = table_style(session);
    std::vector<std::pair<std::string, Cell>> details{
        {"Job type", text_of(type, "name")},
        {"Known by", text_of(type, "origin")},
        {"Learned", age_of(type, "learned_at", session.now()) + " from " + text_of(type, "learned_from")},
        {"Operators", knowledge_of(type)},
        {"Mix", mix_text(type)},
        {"Probe task", text_of(type, "probe_task_id")}};
    for (auto& detail : left_out_details(type))
        details.push_back(std::move(detail));
    std::string text = render_details(details, style);
    Table table({{"OPERATOR"}, {"SIZE"}, {"COUNT", Align::kRight}, {"SHARE", Align::kRight}});
    for (const Json& one : items_of(type, "operators")) {
        const std::optional<double> share = number_of(one, "share");
        table.add_row({text_of(one, "id"), parameters_of(one, "parameters"), count_of(one, "count"),
                       share ? format_percent(*share) : std::string("-")});
    }
    if (!table.empty()) text += "\n" + table.render(style);
    if (const Table loops = loops_table(member(type, "own_loops")); !loops.empty()) text += "\n" + loops.render(style);
    return text;
}

Outcome list_types(Session& session, const ListOptions& options)
{
    return print_list(session,
                      {.path = "/job-types",
                       .query = {},
                       .table = types_table,
                       .when_empty = "Nothing was learned yet; a job with operators, or one that is profiled "
                                     "(`fathom project set NAME --profile-jobs on`), teaches its type when it ends."},
                      options);
}

Outcome show_type(Session& session, const NameOptions& options)
{
    return print_answer(session, session.get("/job-types/" + path_segment(options.name)),
                        [&](const Json& type) { return type_text(session, type); });
}

} // namespace

void add_job_type_commands(CLI::App& app, Invocation& invocation)
{
    CLI::App& noun = add_noun(app, "job-type", "Types of jobs, and what was learned of them");
    add_list_verb(noun, invocation, "Every type that something was learned of", "fathom job-type list", list_types);

    add_named_verb(noun, invocation, {"show", "One type with its operators", "fathom job-type show app/pw.x"},
                   {"NAME", "The type's name"}, show_type);
}

} // namespace fathom::cli
