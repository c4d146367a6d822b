#include "cli/probes/score_history.hpp"

#include "cli/client/json_view.hpp"
#include "cli/probes/score_cells.hpp"
#include "cli/text/format_units.hpp"
#include "cli/text/plot.hpp"

#include <algorithm>

namespace fathom::cli {
namespace {

constexpr std::int64_t kShownPoints = 100;

struct HistoryOptions : ListOptions {
    std::string unit_type;
    std::string operator_id;
    std::optional<std::int64_t> version;
    std::string parameters;
    std::optional<std::int64_t> unit_count;
    std::string policy;
    std::string since;
    std::string until;
};

std::string when_of(const Json& point)
{
    const std::optional<Timestamp> at = time_of(point, "measured_at");
    return at ? format_time(*at) : "-";
}

/// What the operator is about: operations, or bytes where it is not counted in operations.
std::string achieved_rate(const Json& point)
{
    const char* const rate = "rate_flops";
    return number_of(point, rate).value_or(0) > 0 ? rate_of(point, rate, format_flops)
                                                  : rate_of(point, "rate_bytes", format_bandwidth);
}

Table history_table(const Json& points, Charset charset)
{
    Table table({{"MEASURED"},
                 {"VERSION", Align::kRight, 6},
                 {"SIZE", Align::kLeft, 2, true},
                 {"UNITS", Align::kRight, 5},
                 {"MEDIAN", Align::kRight, 1},
                 {"RATE", Align::kRight},
                 {"ERROR", Align::kRight, 3},
                 {"SCORE", Align::kRight},
                 {"", Align::kLeft, 4},
                 {"PROBE RUN"},
                 {"WHY THERE IS NONE", Align::kLeft, 2, true}});
    double most = 0;
    for (const Json& point : points)
        most = std::max(most, number_of(point, "score").value_or(0));
    for (const Json& point : points) {
        const std::optional<double> score = number_of(point, "score");
        table.add_row({when_of(point), count_of(point, "operator_version"), parameters_of(point, "parameters"),
                       count_of(point, "unit_count"), duration_of(point, "median_s"), achieved_rate(point),
                       error_cell(point), score ? format_number(*score) : "-",
                       bar(score.value_or(0), most, kScoreBarWidth, charset), text_of(point, "probe_run_id"),
                       text_of(point, "missing_reason", "")});
    }
    return table;
}

std::string number_text(const std::optional<std::int64_t>& number)
{
    return number ? std::to_string(*number) : std::string();
}

Outcome list_history(Session& session, const HistoryOptions& options)
{
    const Charset charset = charset_of(session.console());
    return print_list(
        session,
        {.path = "/scores/history",
         .query = {{"unit_type", options.unit_type},
                   {"operator", options.operator_id},
                   {"version", number_text(options.version)},
                   {"parameters", options.parameters},
                   {"unit_count", number_text(options.unit_count)},
                   {"policy", options.policy},
                   {"since", options.since},
                   {"until", options.until}},
         .table = [charset](const Json& points, Timestamp /*now*/) { return history_table(points, charset); },
         .when_empty = "Nothing was measured there with it in that time; `fathom score list` has what was, and "
                       "`fathom probe run --wait` measures.",
         .table_limit = kShownPoints},
        options);
}

} // namespace

void add_score_history(CLI::App& score, Invocation& invocation)
{
    auto options = std::make_shared<HistoryOptions>();
    CLI::App& verb = add_verb(score, "history", "How one operator did on one unit type over time, the newest first",
                              "fathom score history alpha/core dgemm --since 2026-11-01T00:00:00Z");
    add_required(verb, "UNIT_TYPE", options->unit_type, "CENTER/NAME of a unit type, or its id");
    add_required(verb, "OPERATOR", options->operator_id, "Id of an operator");
    verb.add_option("--operator-version", options->version,
                    "Of the operator (default: the one in use); versions are never mixed")
        ->check(CLI::Range(1, 1'000'000));
    verb.add_option("--size", options->parameters, "Only at this size, such as n=512 or k=8,m=8,n=8");
    verb.add_option("--count", options->unit_count, "Only on so many units")->check(CLI::Range(1, 100'000'000));
    verb.add_option("--policy", options->policy, "Score by this policy, ID or ID@VERSION (default: the active one)");
    verb.add_option("--since", options->since, "Only what was measured then or later, such as 2026-11-01T00:00:00Z");
    verb.add_option("--until", options->until, "Only what was measured before");
    add_list_options(verb, *options);
    on_chosen(verb, invocation, std::move(options), list_history);
}

} // namespace fathom::cli
