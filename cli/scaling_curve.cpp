#include "cli/command_line.hpp"
#include "cli/format_units.hpp"
#include "cli/json_view.hpp"

namespace fathom::cli {
namespace {

struct CurveOptions : ListOptions {
    std::string center;
    std::string unit_type;
    std::string operator_id;
};

/// `1: 100 %, 2: 96 %, 4: 81 %`: efficiency by count.
std::string efficiencies(const Json& curve)
{
    std::string text;
    for (const Json& point : items_of(curve, "points")) {
        const std::optional<double> efficiency = number_of(point, "efficiency");
        if (!efficiency) continue;
        text += (text.empty() ? "" : ", ") + format_number(number_of(point, "unit_count").value_or(0)) + ": " +
                format_percent(*efficiency);
    }
    return text.empty() ? text_of(curve, "problem") : text;
}

std::string chosen_model(const Json& curve)
{
    const Json& models = items_of(curve, "models");
    return models.empty() ? "-" : text_of(models[0], "model");
}

std::string model_error(const Json& curve)
{
    const Json& models = items_of(curve, "models");
    const std::optional<double> error = models.empty() ? std::nullopt : number_of(models[0], "left_out_error");
    return error ? format_percent(*error) : "-";
}

Table curves_table(const Json& curves, Timestamp now)
{
    Table table({{"CENTER"},
                 {"UNIT TYPE"},
                 {"OPERATOR"},
                 {"SIZE", Align::kLeft, 2, true},
                 {"KNEE", Align::kRight},
                 {"EFFICIENCY BY UNITS", Align::kLeft, 0, true},
                 {"MODEL", Align::kLeft, 3},
                 {"ERROR", Align::kRight, 4},
                 {"MEASURED", Align::kRight, 5}});
    for (const Json& curve : curves) {
        table.add_row({text_of(curve, "center"), text_of(curve, "unit_type"), text_of(curve, "operator"),
                       parameters_of(curve, "parameters"), count_of(curve, "knee"), efficiencies(curve),
                       chosen_model(curve), model_error(curve), age_of(curve, "measured_at", now)});
    }
    return table;
}

Outcome list_curves(Session& session, const CurveOptions& options)
{
    return print_list(
        session,
        {.path = "/scaling-curves",
         .query = {{"center", options.center}, {"unit_type", options.unit_type}, {"operator", options.operator_id}},
         .table = curves_table,
         .when_empty = "Nothing was measured on more than one count of units yet; "
                       "`fathom probe run --units 2 --wait` does."},
        options);
}

} // namespace

void add_scaling_curve_commands(CLI::App& app, Invocation& invocation)
{
    CLI::App& noun = add_noun(app, "scaling-curve", "How operators scale with the number of units");
    auto options = std::make_shared<CurveOptions>();
    CLI::App& list = add_verb(noun, "list", "Efficiency by count, the model behind it, and the knee",
                              "fathom scaling-curve list --center alpha --operator dgemm");
    list.add_option("--center", options->center, "Only of this center (name or id)");
    list.add_option("--unit-type", options->unit_type, "Only of this unit type");
    list.add_option("--operator", options->operator_id, "Only of this operator");
    add_list_options(list, *options);
    on_chosen(list, invocation, std::move(options), list_curves);
}

} // namespace fathom::cli
