#include "cli/centers/unit_load.hpp"

#include "cli/client/json_view.hpp"

#include <fmt/format.h>

namespace fathom::cli {
namespace {

struct UnitLoadOptions : ListOptions {
    std::string center;
    std::string unit_type;
    std::string operator_id;
};

/// `1.06 (1.02 … 1.11)`: of one of the curve's points, or why there is none.
std::string factor_text(const Json& curve, std::size_t index)
{
    const Json& points = items_of(curve, "points");
    if (index >= points.size()) return "-";
    const Json& point = points[index];
    const auto figure = [&](std::string_view name) { return number_of(point, name).value_or(0); };
    return fmt::format("{:.3g} ({:.3g} … {:.3g})", figure("factor"), figure("low"), figure("high"));
}

std::string load_text(const Json& curve)
{
    const std::optional<double> largest = number_of(curve, "largest_busy_cores");
    return largest ? fmt::format("{:.3g}", *largest) : text_of(curve, "problem");
}

/// "12 results", "3 runs of copies": what the figures are from.
std::string source_text(const Json& curve)
{
    const auto counted = [](std::int64_t count, const char* what) {
        return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
    };
    if (text_of(curve, "source", "") != "copies")
        return counted(static_cast<std::int64_t>(number_of(curve, "result_count").value_or(0)), "result");
    std::int64_t runs = 0;
    for (const Json& point : items_of(curve, "copies"))
        runs += static_cast<std::int64_t>(number_of(point, "run_count").value_or(0));
    return counted(runs, "run") + " of copies";
}

Table unit_load_table(const Json& curves, Timestamp now)
{
    Table table({{"CENTER"},
                 {"UNIT TYPE"},
                 {"OPERATOR"},
                 {"BUSY CORES", Align::kRight, 0, true},
                 {"TIME BESIDE THEM", Align::kRight},
                 {"BESIDE HALF", Align::kRight, 2},
                 {"FROM", Align::kRight, 3},
                 {"MEASURED", Align::kRight, 4}});
    constexpr std::size_t kHalf = 1; // of the points: at a quarter, half and all of the largest load
    constexpr std::size_t kAll = 2;
    for (const Json& curve : curves) {
        table.add_row({text_of(curve, "center"), text_of(curve, "unit_type"), text_of(curve, "operator"),
                       load_text(curve), factor_text(curve, kAll), factor_text(curve, kHalf), source_text(curve),
                       age_of(curve, "measured_at", now)});
    }
    return table;
}

Outcome list_unit_load(Session& session, const UnitLoadOptions& options)
{
    return print_list(
        session,
        {.path = "/load-curves",
         .query = {{"center", options.center}, {"unit_type", options.unit_type}, {"operator", options.operator_id}},
         .table = unit_load_table,
         .when_empty = "Nothing was measured beside different loads yet: probes that run while jobs hold "
                       "other cores of their host tell it, and `fathom probe run --copies`."},
        options);
}

} // namespace

void add_unit_load(CLI::App& noun, Invocation& invocation)
{
    auto options = std::make_shared<UnitLoadOptions>();
    CLI::App& list = add_verb(noun, "load", "How much slower operators are beside busy neighbours, over alone",
                              "fathom unit load alpha/core");
    list.add_option("unit-type", options->unit_type, "Only of this unit type (id, or center/unit type)");
    list.add_option("--center", options->center, "Only of this center (name or id)");
    list.add_option("--operator", options->operator_id, "Only of this operator");
    add_list_options(list, *options);
    on_chosen(list, invocation, std::move(options), list_unit_load);
}

} // namespace fathom::cli
