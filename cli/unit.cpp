#include "cli/command_line.hpp"
#include "cli/format_units.hpp"
#include "cli/json_view.hpp"

namespace fathom::cli {
namespace {

struct UnitOptions : ListOptions {
    std::string center;
};

Table units_table(const Json& unit_types, Timestamp)
{
    Table table({{"CENTER"},
                 {"UNIT TYPE"},
                 {"RESOURCE"},
                 {"UNITS", Align::kRight},
                 {"IN USE", Align::kRight},
                 {"CORES/UNIT", Align::kRight, 2},
                 {"MEMORY/UNIT", Align::kRight, 3},
                 {"OFFERED", Align::kLeft, 4},
                 {"OPERATORS", Align::kLeft, 1, true},
                 {"ID", Align::kLeft, 5}});
    for (const Json& unit : unit_types) {
        const std::optional<double> memory = number_of(unit, "memory_bytes_per_unit");
        table.add_row({text_of(unit, "center"), text_of(unit, "name"), text_of(unit, "resource_type"),
                       count_of(unit, "unit_count"), count_of(unit, "units_in_use"), count_of(unit, "cores_per_unit"),
                       memory ? format_bytes(*memory) : "-", is_true(unit, "active") ? "yes" : "no",
                       joined_texts(unit, "operators"), text_of(unit, "id")});
    }
    return table;
}

Outcome list_units(Session& session, const UnitOptions& options)
{
    return print_list(session,
                      {.path = "/unit-types",
                       .query = {{"center", options.center}},
                       .table = units_table,
                       .when_empty = "No unit types; `fathom center list` shows whether a center is online."},
                      options);
}

} // namespace

void add_unit_commands(CLI::App& app, Invocation& invocation)
{
    CLI::App& unit = add_noun(app, "unit", "Unit types: what the centers offer");
    auto options = std::make_shared<UnitOptions>();
    CLI::App& list =
        add_verb(unit, "list", "Every unit type, its units and what they can run", "fathom unit list --center alpha");
    list.add_option("--center", options->center, "Only of this center (name or id)");
    add_list_options(list, *options);
    on_chosen(list, invocation, std::move(options), list_units);
}

} // namespace fathom::cli
