#include "cli/probes/scaling.hpp"

#include "cli/client/json_view.hpp"
#include "cli/text/display_text.hpp"
#include "cli/text/format_units.hpp"
#include "cli/text/plot.hpp"

namespace fathom::cli {
namespace {

struct CurveOptions : ListOptions {
    std::string center;
    std::string unit_type;
    std::string operator_id;
};

/// A count of units: the server may write it as 4.0.
std::string whole_number(std::optional<double> value)
{
    return value ? format_count(static_cast<std::int64_t>(*value)) : "-";
}

/// `1: 100 %, 2: 96 %, 4: 81 %`: efficiency by count.
std::string efficiencies(const Json& curve)
{
    std::string text;
    for (const Json& point : items_of(curve, "points")) {
        const std::optional<double> efficiency = number_of(point, "efficiency");
        if (!efficiency) continue;
        text += (text.empty() ? "" : ", ") + whole_number(number_of(point, "unit_count")) + ": " +
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
    const bool can_be_judged = items_of(curve, "points").size() > 2;
    return error && can_be_judged ? format_percent(*error) : "-";
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

constexpr const char* kNoCurves =
    "Nothing was measured on more than one count of units yet; `fathom probe run --counts 1,2,4 --wait` does.";

Query query_of(const CurveOptions& options)
{
    return {{"center", options.center}, {"unit_type", options.unit_type}, {"operator", options.operator_id}};
}

Outcome list_curves(Session& session, const CurveOptions& options)
{
    return print_list(
        session,
        {.path = "/scaling-curves", .query = query_of(options), .table = curves_table, .when_empty = kNoCurves},
        options);
}

/// A member of each item against its count, in multiples of what one unit does.
std::vector<PlotPoint> speedups_of(const Json& items, std::string_view name, double single_rate)
{
    std::vector<PlotPoint> points;
    for (const Json& item : items) {
        const std::optional<double> rate = number_of(item, name);
        if (rate) points.push_back({number_of(item, "unit_count").value_or(0), *rate / single_rate});
    }
    return points;
}

/// What one unit does: the points' first efficiency says it also where one unit was not measured.
double single_rate_of(const Json& curve)
{
    const Json& points = items_of(curve, "points");
    if (points.empty()) return 1;
    const double count = number_of(points[0], "unit_count").value_or(1);
    const double rate = number_of(points[0], "rate").value_or(1);
    return rate > 0 && count > 0 ? rate / count : 1;
}

std::string drawing(const Json& curve, const PlotStyle& style)
{
    const double single = single_rate_of(curve);
    const Json& drawn = items_of(curve, "curve");
    Plot plot;
    plot.series = {{chosen_model(curve), PlotMark::kLine, speedups_of(drawn, "rate", single), true},
                   {"measured", PlotMark::kDot, speedups_of(items_of(curve, "points"), "rate", single)}};
    plot.bands = {{"80 % interval", speedups_of(drawn, "low", single), speedups_of(drawn, "high", single)}};
    if (const std::optional<double> knee = number_of(curve, "knee"))
        plot.rules = {{"knee at " + whole_number(knee), *knee}};
    plot.x_title = "units";
    plot.y_title = "speed-up";
    plot.y_from = 0;
    return line_plot(plot, style);
}

std::string points_text(const Json& curve, const TableStyle& style)
{
    Table table({{"UNITS", Align::kRight},
                 {"TIME EACH", Align::kRight},
                 {"EFFICIENCY", Align::kRight},
                 {"MODEL", Align::kRight},
                 {"80 % INTERVAL", Align::kRight, 1}});
    const auto time_of_rate = [](const Json& point, std::string_view name) {
        const double rate = number_of(point, name).value_or(0);
        return rate > 0 ? 1 / rate : 0;
    };
    for (const Json& point : items_of(curve, "points")) {
        table.add_row({whole_number(number_of(point, "unit_count")), format_duration(time_of_rate(point, "rate")),
                       format_percent(number_of(point, "efficiency").value_or(0)),
                       format_duration(time_of_rate(point, "model_rate")),
                       format_interval(time_of_rate(point, "high"), time_of_rate(point, "low"))});
    }
    return table.render(style);
}

std::string render_curve(Session& session, const Json& curve)
{
    std::string text = printable(text_of(curve, "operator") + "(" + parameters_of(curve, "parameters") + ") on " +
                                 text_of(curve, "center") + "/" + text_of(curve, "unit_type")) +
                       ", measured " + age_of(curve, "measured_at", session.now()) + "\n\n";
    if (const std::string problem = text_of(curve, "problem", ""); !problem.empty())
        return text + "No curve: " + printable(problem) + "\n";
    text += drawing(curve, plot_style(session.console())) + "\n" + points_text(curve, table_style(session));
    const double most = number_of(curve, "largest_measured").value_or(0);
    const std::string error = model_error(curve);
    return text + "\nModel " + chosen_model(curve) +
           (error == "-" ? ", too few points to judge it by"
                         : ", error " + error + " at points that it was not given") +
           "; knee at " + count_of(curve, "knee") + ". Believed up to " + whole_number(2 * most) +
           " units, twice what was measured.\n";
}

Outcome show_curves(Session& session, const CurveOptions& options)
{
    const Result<Session::List> list = session.list("/scaling-curves", query_of(options), options.limit);
    if (!list) return list.error();
    return print_answer(session, list->json, [&](const Json& curves) {
        std::string text;
        for (const Json& curve : items_of(curves))
            text += (text.empty() ? "" : "\n") + render_curve(session, curve);
        return text.empty() ? std::string(kNoCurves) + "\n" : text;
    });
}

void add_curve_options(CLI::App& verb, CurveOptions& options)
{
    verb.add_option("--center", options.center, "Only of this center (name or id)");
    verb.add_option("--unit-type", options.unit_type, "Only of this unit type (id, or center/unit type)");
    verb.add_option("--operator", options.operator_id, "Only of this operator");
    add_list_options(verb, options);
}

} // namespace

void add_scaling_commands(CLI::App& app, Invocation& invocation)
{
    CLI::App& noun = add_noun(app, "scaling", "How operators scale with the number of units");
    add_verb_with(noun, invocation,
                  {"list", "Efficiency by count, the model behind it, and the knee",
                   "fathom scaling list --center alpha --operator dgemm"},
                  add_curve_options, list_curves);

    add_verb_with(noun, invocation,
                  {"show", "The curves drawn: measured points, model, interval and knee",
                   "fathom scaling show --unit-type alpha/core --operator dgemm"},
                  add_curve_options, show_curves);
}

} // namespace fathom::cli
