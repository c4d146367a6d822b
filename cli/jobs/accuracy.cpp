#include "cli/jobs/accuracy.hpp"

#include "cli/client/json_view.hpp"
#include "cli/jobs/operator_accuracy.hpp"
#include "cli/text/format_units.hpp"
#include "cli/text/plot.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace fathom::cli {
namespace {

struct PredictionListOptions : ListOptions {
    std::string unit_type;
    std::string center;
    std::string job_type;
    bool is_ended{false};
};

/// Points of the drawing: more would fill it.
constexpr std::int64_t kMaxPoints = 500;

/// With fewer jobs a share says nothing; with more it should be 75 to 85 %.
constexpr double kMinForTone = 20;

constexpr const char* kWhenEmpty = "No job has ended since predictions are kept; `fathom job submit` runs one.";

/// "82 %"; red where intervals are too narrow, and many jobs say so.
Cell within_cell(const Json& quality, std::string_view count_name)
{
    const double count = number_of(quality, count_name).value_or(0);
    if (count <= 0) return "-";
    const double share = number_of(quality, "within_share").value_or(0);
    const bool is_bad = count >= kMinForTone && share < 0.7;
    return Cell(format_percent(share), is_bad ? Tone::kBad : Tone::kPlain);
}

/// "12 % slower", "as predicted" within a percent.
std::string bias_text(const Json& run)
{
    const double ratio = number_of(run, "median_ratio").value_or(0);
    if (!(ratio > 0)) return "-";
    if (std::abs(ratio - 1) < 0.01) return "as predicted";
    return format_percent(std::abs(ratio - 1)) + (ratio > 1 ? " slower" : " faster");
}

std::vector<Cell> quality_cells(const Json& one)
{
    const Json& run = member(one, "run");
    const Json& wait = member(one, "wait");
    const bool has_runs = number_of(run, "job_count").value_or(0) > 0;
    const bool has_waits = number_of(wait, "count").value_or(0) > 0;
    return {count_of(run, "job_count"),
            has_runs ? format_percent(number_of(run, "median_error").value_or(0)) : "-",
            within_cell(run, "job_count"),
            has_runs ? bias_text(run) : "-",
            has_waits ? format_duration(number_of(wait, "median_error").value_or(0)) : "-",
            within_cell(wait, "count"),
            within_cell(member(one, "cost"), "count")};
}

/// Figures of run times, waits and costs after the columns that name a row.
Table quality_table(std::vector<Column> names)
{
    const std::vector<Column> figures{{"JOBS", Align::kRight},
                                      {"MEDIAN ERROR", Align::kRight},
                                      {"IN 80 % INTERVAL", Align::kRight},
                                      {"TYPICALLY", Align::kLeft, 1},
                                      {"WAIT OFF BY", Align::kRight, 2},
                                      {"WAIT IN INTERVAL", Align::kRight, 3},
                                      {"COST IN INTERVAL", Align::kRight, 4}};
    names.insert(names.end(), figures.begin(), figures.end());
    return Table(std::move(names));
}

void add_quality(Table& table, std::vector<Cell> names, const Json& one)
{
    const std::vector<Cell> figures = quality_cells(one);
    names.insert(names.end(), figures.begin(), figures.end());
    table.add_row(std::move(names));
}

/// What the predictions of a rung rest on.
std::string_view rung_text(const std::string& rung)
{
    if (rung == "runs") return "runs of the type there";
    return rung == "reference" ? "a profiled run elsewhere" : "operators";
}

/// Of run times alone: empty from a server that does not tell.
std::string rungs_text(const Json& calibration, const TableStyle& style)
{
    const auto& rungs = items_of(calibration, "by_rung");
    if (rungs.empty()) return {};
    Table table({{"PREDICTED FROM"},
                 {"JOBS", Align::kRight},
                 {"MEDIAN ERROR", Align::kRight},
                 {"IN 80 % INTERVAL", Align::kRight},
                 {"TYPICALLY", Align::kLeft, 1}});
    for (const Json& one : rungs) {
        const Json& run = member(one, "run");
        table.add_row({std::string(rung_text(text_of(one, "rung"))), count_of(run, "job_count"),
                       format_percent(number_of(run, "median_error").value_or(0)), within_cell(run, "job_count"),
                       bias_text(run)});
    }
    return "\n" + table.render(style);
}

std::string tables_text(const Json& calibration, const TableStyle& style)
{
    Table by_unit_type = quality_table({{"CENTER"}, {"UNIT TYPE"}});
    for (const Json& one : items_of(calibration, "by_unit_type"))
        add_quality(by_unit_type, {text_of(one, "center"), text_of(one, "unit_type")}, one);
    add_quality(by_unit_type, {"all", ""}, calibration);
    Table by_job_type = quality_table({{"JOB TYPE"}});
    for (const Json& one : items_of(calibration, "by_job_type"))
        add_quality(by_job_type, {text_of(one, "job_type")}, one);
    return by_unit_type.render(style) + "\n" + by_job_type.render(style) + rungs_text(calibration, style);
}

/// Predicted against actual run times; both axes logarithmic.
std::string drawing(const Json& predictions, const PlotStyle& style)
{
    PlotSeries jobs{"jobs", PlotMark::kDot, {}};
    double least = std::numeric_limits<double>::infinity();
    double most = 0;
    for (const Json& one : items_of(predictions)) {
        const double predicted_s = number_of(member(one, "predicted"), "run_s").value_or(0);
        const double actual_s = number_of(one, "actual_run_s").value_or(0);
        if (!(predicted_s > 0) || !(actual_s > 0) || text_of(one, "outcome") != "succeeded") continue;
        jobs.points.push_back({predicted_s, std::log10(actual_s)});
        least = std::min(least, predicted_s);
        most = std::max(most, predicted_s);
    }
    if (jobs.points.empty()) return "";
    Plot plot;
    plot.series = {{"as predicted", PlotMark::kLine, {{least, std::log10(least)}, {most, std::log10(most)}}, true},
                   std::move(jobs)};
    plot.x_title = "predicted";
    plot.y_title = "actual";
    plot.x_scale = PlotScale::kLogarithmic;
    plot.format_x = format_duration;
    plot.format_y = [](double decades) { return format_duration(std::pow(10, decades)); };
    return line_plot(plot, style);
}

Outcome show_accuracy(Session& session, const ListOptions&)
{
    const Result<Json> calibration = session.get("/predictions:calibration");
    if (!calibration) return calibration.error();
    if (session.wants_json()) return print_answer(session, calibration, {});
    const Result<Session::List> newest = session.list("/predictions", {{"ended", "true"}}, kMaxPoints);
    if (!newest) return newest.error();
    return print_answer(session, calibration, [&](const Json& answer) {
        if (items_of(answer, "by_job_type").empty()) return std::string(kWhenEmpty) + "\n";
        const std::string plot = drawing(newest->json, plot_style(session.console()));
        return tables_text(answer, table_style(session)) + (plot.empty() ? "" : "\nRun times\n" + plot);
    });
}

/// "12.3 s (11–14 s)"; "-" where nothing was predicted.
std::string predicted_run_text(const Json& run)
{
    const std::optional<double> run_s = number_of(run, "run_s");
    if (!run_s) return "-";
    return format_duration(*run_s) + " (" +
           format_interval(number_of(run, "low_s").value_or(0), number_of(run, "high_s").value_or(0)) + ")";
}

Cell actual_cell(const Json& one)
{
    const std::optional<double> actual_s = number_of(one, "actual_run_s");
    if (!actual_s) return "-";
    const Json& predicted = member(one, "predicted");
    const bool is_known = number_of(predicted, "run_s").has_value() && text_of(one, "outcome") == "succeeded";
    const bool is_inside = *actual_s >= number_of(predicted, "low_s").value_or(0) &&
                           *actual_s <= number_of(predicted, "high_s").value_or(0);
    return Cell(format_duration(*actual_s), is_known && !is_inside ? Tone::kBad : Tone::kPlain);
}

std::string cost_cell(const Json& one, const char* name)
{
    const std::optional<double> cost = number_of(one, name);
    if (!cost || member(one, "currency").is_null()) return "-";
    return format_number(*cost) + " " + text_of(one, "currency");
}

Table predictions_table(const Json& predictions, Timestamp now)
{
    Table table({{"JOB"},
                 {"TYPE", Align::kLeft, 2},
                 {"CENTER"},
                 {"UNIT TYPE", Align::kLeft, 1},
                 {"DECIDED", Align::kRight, 3},
                 {"PREDICTED RUN"},
                 {"ACTUAL", Align::kRight},
                 {"WAIT", Align::kRight, 4},
                 {"ACTUAL WAIT", Align::kRight, 4},
                 {"COST", Align::kRight, 5},
                 {"ACTUAL COST", Align::kRight, 5},
                 {"OUTCOME"}});
    for (const Json& one : predictions) {
        const std::string outcome = text_of(one, "outcome");
        table.add_row({text_of(one, "job_id"), text_of(one, "job_type"), text_of(one, "center"),
                       text_of(one, "unit_type"), age_of(one, "decided_at", now),
                       predicted_run_text(member(one, "predicted")), actual_cell(one),
                       duration_of(member(one, "wait"), "wait_s"), duration_of(one, "actual_wait_s"),
                       cost_cell(one, "cost"), cost_cell(one, "actual_cost"),
                       outcome == "-" ? Cell("not ended", Tone::kPending) : Cell(outcome, tone_of_state(outcome))});
    }
    return table;
}

Outcome list_predictions(Session& session, const PredictionListOptions& options)
{
    Query query;
    if (!options.unit_type.empty()) query.emplace_back("unit_type", options.unit_type);
    if (!options.center.empty()) query.emplace_back("center", options.center);
    if (!options.job_type.empty()) query.emplace_back("job_type", options.job_type);
    if (options.is_ended) query.emplace_back("ended", "true");
    return print_list(session,
                      {.path = "/predictions",
                       .query = std::move(query),
                       .table = predictions_table,
                       .when_empty = "No such predictions: every placement of a job leaves one.",
                       .table_limit = 50},
                      options);
}

} // namespace

void add_accuracy_commands(CLI::App& app, Invocation& invocation)
{
    CLI::App& noun = add_noun(app, "accuracy", "How well jobs were predicted: run times, waits and costs");
    noun.require_subcommand(0, 1);
    noun.footer("\nWithout a command: the figures of each unit type and job type, and a drawing.\n\nExample:\n"
                "  fathom accuracy");
    noun.callback([&noun, &invocation] {
        if (!noun.get_subcommands().empty()) return;
        invocation.action = [](Session& session) { return show_accuracy(session, {}); };
    });

    auto options = std::make_shared<PredictionListOptions>();
    CLI::App& list = add_verb(noun, "list", "Each placement: what was predicted, and what came",
                              "fathom accuracy list --unit-type alpha/core --ended");
    list.add_option("--unit-type", options->unit_type, "Only of this unit type (id, or center/unit type)");
    list.add_option("--center", options->center, "Only of this center (name or id)");
    list.add_option("--job-type", options->job_type, "Only of this job type");
    list.add_flag("--ended", options->is_ended, "Only of jobs that have ended");
    add_list_options(list, *options);
    on_chosen(list, invocation, std::move(options), list_predictions);
    add_operator_accuracy_command(noun, invocation);
}

} // namespace fathom::cli
