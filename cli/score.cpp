#include "cli/command_line.hpp"
#include "cli/format_units.hpp"
#include "cli/json_view.hpp"

#include <algorithm>
#include <tuple>

namespace fathom::cli {
namespace {

struct ScoreOptions : ListOptions {
    std::string policy;
    std::string center;
    std::string unit_type;
    std::string operator_id;
};

std::string format_member(const Json& json, std::string_view name, std::string (*format)(double))
{
    const std::optional<double> value = number_of(json, name);
    return value ? format(*value) : "-";
}

/// A rate of zero means that the operator is not counted in that unit.
std::string rate_of(const Json& json, std::string_view name, std::string (*format)(double))
{
    return number_of(json, name).value_or(0) > 0 ? format_member(json, name, format) : "-";
}

Cell error_cell(const Json& score)
{
    const std::string text = format_member(score, "error", format_error);
    const std::optional<double> tolerance = number_of(score, "tolerance");
    const bool wrong = tolerance && number_of(score, "error").value_or(0) > *tolerance;
    return wrong ? Cell(text + " !", Tone::kBad) : Cell(text);
}

std::vector<const Json*> sorted(const Json& scores)
{
    std::vector<const Json*> order;
    for (const Json& score : scores)
        order.push_back(&score);
    const auto key = [](const Json* score) {
        return std::tuple(text_of(*score, "center"), text_of(*score, "unit_type"), text_of(*score, "operator"),
                          number_of(*score, "operations").value_or(0), number_of(*score, "unit_count").value_or(0));
    };
    // The address keeps the server's order among equals.
    std::sort(order.begin(), order.end(),
              [&](auto a, auto b) { return std::tuple(key(a), a) < std::tuple(key(b), b); });
    return order;
}

Table scores_table(const Json& scores, Timestamp now)
{
    Table table({{"CENTER"},
                 {"UNIT TYPE"},
                 {"UNITS", Align::kRight, 6},
                 {"OPERATOR"},
                 {"SIZE", Align::kLeft, 1, true},
                 {"MEDIAN", Align::kRight},
                 {"SPREAD", Align::kRight, 2},
                 {"SAMPLES", Align::kRight, 7},
                 {"RATE", Align::kRight},
                 {"BANDWIDTH", Align::kRight, 3},
                 {"ERROR", Align::kRight, 4},
                 {"SCORE", Align::kRight},
                 {"MEASURED", Align::kRight, 5}});
    for (const Json* const score : sorted(scores)) {
        table.add_row({text_of(*score, "center"), text_of(*score, "unit_type"), count_of(*score, "unit_count"),
                       text_of(*score, "operator"), parameters_of(*score, "parameters"),
                       duration_of(*score, "median_s"), format_member(*score, "spread", format_percent),
                       count_of(*score, "sample_count"), rate_of(*score, "rate_flops", format_flops),
                       rate_of(*score, "rate_bytes", format_bandwidth), error_cell(*score),
                       format_member(*score, "score", format_number), age_of(*score, "measured_at", now)});
    }
    return table;
}

Outcome list_scores(Session& session, const ScoreOptions& options)
{
    return print_list(session,
                      {.path = "/scores",
                       .query = {{"policy", options.policy},
                                 {"center", options.center},
                                 {"unit_type", options.unit_type},
                                 {"operator", options.operator_id}},
                       .table = scores_table,
                       .when_empty = "Nothing is measured yet; `fathom probe run --wait` measures."},
                      options);
}

} // namespace

void add_score_commands(CLI::App& app, Invocation& invocation)
{
    CLI::App& noun = add_noun(app, "score", "What was measured, and the points it gets");
    auto options = std::make_shared<ScoreOptions>();
    CLI::App& list = add_verb(noun, "list", "The newest measurement of each unit type, operator and size",
                              "fathom score list --center alpha --operator dgemm");
    list.add_option("--policy", options->policy, "Score by this policy, ID or ID@VERSION (default: the active one)");
    list.add_option("--center", options->center, "Only of this center (name or id)");
    list.add_option("--unit-type", options->unit_type, "Only of this unit type");
    list.add_option("--operator", options->operator_id, "Only of this operator");
    add_list_options(list, *options);
    on_chosen(list, invocation, std::move(options), list_scores);
}

} // namespace fathom::cli
