#include "cli/centers/unit_balance.hpp"
#include "cli/client/json_view.hpp"

#include <fmt/format.h>

namespace fathom::cli {
namespace {

struct BalancedUnitOptions : ListOptions {
    std::string center;
};

std::string rounded(const Json& step, std::string_view name)
{
    const std::optional<double> value = number_of(step, name);
    return value ? fmt::format("{:+.3f}", *value) : "-";
}

Table balanced_units_table(const Json& units, Timestamp now)
{
    Table table({{"CENTER"},
                 {"UNIT"},
                 {"e", Align::kRight},
                 {"u", Align::kRight},
                 {"DRY RUN", Align::kLeft, 3},
                 {"TOLD", Align::kLeft, 1},
                 {"REASON", Align::kLeft, 2, true},
                 {"DROPPED", Align::kRight, 4}});
    for (const Json& unit : units) {
        const Json& last = member(unit, "last");
        table.add_row({text_of(unit, "center"), text_of(unit, "unit"), rounded(last, "error"), rounded(last, "output"),
                       is_true(last, "dry_run") ? "yes" : "no", age_of(unit, "told_at", now), text_of(last, "reason"),
                       count_of(unit, "dropped_count")});
    }
    return table;
}

Outcome list_balanced_units(Session& session, const BalancedUnitOptions& options)
{
    return print_list(session,
                      {.path = "/balanced-units",
                       .query = {{"center", options.center}},
                       .table = balanced_units_table,
                       .when_empty =
                           "No unit is balanced: set enabled = true in [balance] of a center's agent, name its "
                           "units, and run a job on one (docs/balance.md)."},
                      options);
}

} // namespace

void add_balanced_unit_list(CLI::App& noun, Invocation& invocation)
{
    auto options = std::make_shared<BalancedUnitOptions>();
    CLI::App& list = add_verb(noun, "balanced", "Units whose transfer and compute a loop at their center balances",
                              "fathom unit balanced --center alpha");
    list.add_option("--center", options->center, "Only of this center (name or id)");
    add_list_options(list, *options);
    on_chosen(list, invocation, std::move(options), list_balanced_units);
}

} // namespace fathom::cli
