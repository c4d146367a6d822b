#include "cli/probes/trust.hpp"

#include "cli/client/json_view.hpp"
#include "cli/text/format_units.hpp"

namespace fathom::cli {
namespace {

/// "12/40, 1 wrong": of the results, those that were verified right.
std::string verified_text(const Json& one)
{
    const Json& verified = member(one, "verified");
    std::string text = count_of(verified, "right_count") + "/" + count_of(verified, "result_count");
    if (number_of(verified, "wrong_count").value_or(0) > 0) text += ", " + count_of(verified, "wrong_count") + " wrong";
    return text;
}

Table trust_table(const Json& items, Timestamp)
{
    Table table({{"CENTER"},
                 {"UNIT TYPE"},
                 {"JOBS", Align::kRight},
                 {"SLOWER THAN MEASURED", Align::kRight},
                 {"80 % INTERVAL", Align::kLeft, 1},
                 {"OPEN FINDINGS", Align::kRight},
                 {"VERIFIED RIGHT"},
                 {"SCORE FACTOR", Align::kRight}});
    for (const Json& one : items) {
        const double factor = number_of(one, "factor").value_or(1);
        const bool is_found = number_of(one, "finding_count").value_or(0) > 0;
        const bool is_judged = number_of(one, "job_count").value_or(0) > 0;
        const std::string interval =
            format_number(number_of(one, "low").value_or(1)) + "–" + format_number(number_of(one, "high").value_or(1));
        table.add_row({text_of(one, "center"), text_of(one, "unit_type"), count_of(one, "job_count"),
                       is_judged ? format_number(number_of(one, "slowdown").value_or(1)) + " times" : "-",
                       is_judged ? interval : "-",
                       Cell(count_of(one, "finding_count"), is_found ? Tone::kBad : Tone::kPlain), verified_text(one),
                       Cell(format_number(factor), factor < 1 ? Tone::kBad : Tone::kPlain)});
    }
    return table;
}

std::string notes(const Json& answer)
{
    std::string text;
    for (const Json& one : items_of(answer)) {
        if (number_of(one, "finding_count").value_or(0) <= 0) continue;
        text += "\n`fathom finding list --open` says what was found.\n";
        break;
    }
    const Json& verification = member(answer, "verification");
    if (!is_true(verification, "enabled"))
        text += "\nNo results are verified: the server has no fathom-probe of its own that works; its log says why.\n";
    return text;
}

Outcome list_trust(Session& session, const ListOptions&)
{
    return print_answer(session, session.get("/trust"), [&](const Json& answer) {
        const Json& items = items_of(answer);
        if (items.empty()) return "No job or probe has run yet, so nobody is judged.\n" + notes(answer);
        return trust_table(items, session.now()).render(table_style(session)) + notes(answer);
    });
}

} // namespace

void add_trust_commands(CLI::App& app, Invocation& invocation)
{
    CLI::App& noun = add_noun(app, "trust", "Whether centers do what their probes let expect");
    CLI::App& list = add_verb(noun, "list", "Every unit type that has run probes, or jobs with measured operators",
                              "fathom trust list");
    on_chosen(list, invocation, std::make_shared<ListOptions>(), list_trust);
}

} // namespace fathom::cli
