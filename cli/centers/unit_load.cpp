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

/// `0.62 (0.55 … 0.69)`: the pressure on memory that it makes, in bubbles per core.
std::string pressure_text(const Json& curve)
{
    const auto found = curve.find("pressure");
    if (found == curve.end() || !found->is_object()) return "-";
    const auto figure = [&](std::string_view name) { return number_of(*found, name).value_or(0); };
    return fmt::format("{:.2f} ({:.2f} … {:.2f})", figure("per_core"), figure("low"), figure("high"));
}

/// `1.4 beside 3`: how sensitive it is to pressure on memory: its time beside most bubbles.
std::string bubbles_text(const Json& curve)
{
    const Json& bubbles = items_of(curve, "bubbles");
    if (bubbles.empty()) return "-";
    const Json& most = bubbles.back();
    return fmt::format("{:.3g} beside {:.3g}", number_of(most, "factor").value_or(0),
                       number_of(most, "busy_cores").value_or(0));
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
                 {"BESIDE BUBBLES", Align::kRight, 1},
                 {"PRESSURE", Align::kRight, 1},
                 {"FROM", Align::kRight, 3},
                 {"MEASURED", Align::kRight, 4}});
    constexpr std::size_t kHalf = 1; // of the points: at a quarter, half and all of the largest load
    constexpr std::size_t kAll = 2;
    for (const Json& curve : curves) {
        table.add_row({text_of(curve, "center"), text_of(curve, "unit_type"), text_of(curve, "operator"),
                       load_text(curve), factor_text(curve, kAll), factor_text(curve, kHalf), bubbles_text(curve),
                       pressure_text(curve), source_text(curve), age_of(curve, "measured_at", now)});
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
    CLI::App& list = add_verb(
        noun, "load", "How much slower operators are beside busy neighbours, and the pressure on memory that they make",
        "fathom unit load alpha/core");
    list.add_option("unit-type", options->unit_type, "Only of this unit type (id, or center/unit type)");
    list.add_option("--center", options->center, "Only of this center (name or id)");
    list.add_option("--operator", options->operator_id, "Only of this operator");
    add_list_options(list, *options);
    on_chosen(list, invocation, std::move(options), list_unit_load);
}

} // namespace fathom::cli
