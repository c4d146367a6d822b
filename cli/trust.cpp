#include "cli/command_line.hpp"
#include "cli/format_units.hpp"
#include "cli/json_view.hpp"

namespace fathom::cli {
namespace {

Table trust_table(const Json& items, Timestamp)
{
    Table table({{"CENTER"},
                 {"UNIT TYPE"},
                 {"JOBS", Align::kRight},
                 {"SLOWER THAN PROMISED", Align::kRight},
                 {"80 % INTERVAL"},
                 {"SCORE FACTOR", Align::kRight}});
    for (const Json& one : items) {
        const double factor = number_of(one, "factor").value_or(1);
        table.add_row(
            {text_of(one, "center"), text_of(one, "unit_type"), count_of(one, "job_count"),
             format_number(number_of(one, "slowdown").value_or(1)) + " times",
             format_number(number_of(one, "low").value_or(1)) + "–" + format_number(number_of(one, "high").value_or(1)),
             Cell(format_number(factor), factor < 1 ? Tone::kBad : Tone::kPlain)});
    }
    return table;
}

Outcome list_trust(Session& session, const ListOptions&)
{
    return print_answer(session, session.get("/trust"), [&](const Json& answer) {
        const Json& items = items_of(answer);
        if (items.empty()) return std::string("No job with measured operators has run yet, so nobody is judged.\n");
        return trust_table(items, session.now()).render(table_style(session));
    });
}

} // namespace

void add_trust_commands(CLI::App& app, Invocation& invocation)
{
    CLI::App& noun = add_noun(app, "trust", "Whether jobs run as fast as probes promise");
    CLI::App& list =
        add_verb(noun, "list", "Every unit type that has run jobs with measured operators", "fathom trust list");
    on_chosen(list, invocation, std::make_shared<ListOptions>(), list_trust);
}

} // namespace fathom::cli
