#include "cli/operators/operator_diversity.hpp"

#include "cli/client/json_view.hpp"

#include <ostream>

namespace fathom::cli {
namespace {

struct DiversityOptions : ListOptions {
    std::string id;
};

std::string names_of(const Json& one, std::string_view list)
{
    std::string text;
    for (const Json& name : items_of(one, list))
        text += (text.empty() ? "" : ", ") + (name.is_string() ? name.get<std::string>() : std::string());
    return text.empty() ? "-" : text;
}

std::string places_of(const Json& one)
{
    std::string text;
    for (const Json& type : items_of(one, "unit_types"))
        text += (text.empty() ? "" : ", ") + text_of(type, "center") + "/" + text_of(type, "name");
    return text.empty() ? "nowhere" : text;
}

Table diversity_table(const Json& operators, Timestamp)
{
    Table table({{"OPERATOR"},
                 {"UNIT TYPES", Align::kRight},
                 {"KINDS", Align::kLeft, 2},
                 {"CENTERS", Align::kRight},
                 {"UNITS", Align::kRight, 3},
                 {"WHERE", Align::kLeft, 1, true}});
    for (const Json& one : operators) {
        const std::string count = count_of(one, "unit_type_count");
        table.add_row({text_of(one, "operator_id"), count == "0" ? Cell(count, Tone::kBad) : Cell(count),
                       names_of(one, "resource_types"), count_of(one, "center_count"), count_of(one, "unit_count"),
                       places_of(one)});
    }
    return table;
}

Outcome show_diversity(Session& session, const DiversityOptions& options)
{
    return print_list(session,
                      {.path = "/diversity",
                       .query = {{"operator", options.id}},
                       .table = diversity_table,
                       .when_empty = options.id.empty() ? "The library has no operators."
                                                        : "The library has no such operator; `fathom operator list`.",
                       .table_limit = 100},
                      options);
}

} // namespace

void add_operator_diversity(CLI::App& noun, Invocation& invocation)
{
    auto options = std::make_shared<DiversityOptions>();
    CLI::App& verb = add_verb(noun, "diversity", "How many kinds of unit can run each operator, and where",
                              "fathom operator diversity dgemm");
    verb.add_option("ID", options->id, "Only this operator");
    add_list_options(verb, *options);
    on_chosen(verb, invocation, std::move(options), show_diversity);
}

} // namespace fathom::cli
