#include "cli/probes/score.hpp"

#include "cli/client/json_view.hpp"
#include "cli/probes/score_cells.hpp"
#include "cli/probes/score_history.hpp"
#include "cli/text/format_units.hpp"
#include "cli/text/plot.hpp"

#include <algorithm>
#include <tuple>

namespace fathom::cli {
namespace {

struct ScoreOptions : ListOptions {
    std::string by; ///< empty: what the filters say, else operator
    std::string policy;
    std::string center;
    std::string unit_type;
    std::string operator_id;
    std::string job_type;
    std::string category;
};

/// `980–1 040`, the 95 % interval.
std::string interval_of(const Json& score)
{
    const std::optional<double> low = number_of(score, "score_low");
    const std::optional<double> high = number_of(score, "score_high");
    return low && high ? format_number(*low) + "–" + format_number(*high) : "-";
}

/// How many results count together.
std::string results_of(const Json& score)
{
    const auto runs = score.find("probe_run_ids");
    return runs != score.end() && runs->is_array() ? std::to_string(runs->size()) : "-";
}

std::string trust_of(const Json& score)
{
    const std::optional<double> factor = number_of(score, "trust_factor");
    return factor && *factor < 1 ? format_percent(*factor) : "";
}

double most_of(const Json& scores)
{
    double most = 0;
    for (const Json& score : scores)
        most = std::max(most, number_of(score, "score").value_or(0));
    return most;
}

std::string bar_of(const Json& score, double most, Charset charset)
{
    return bar(number_of(score, "score").value_or(0), most, kScoreBarWidth, charset);
}

/// The scores in the order of a key; the address keeps the server's order among equals.
template <class KeyOf>
std::vector<const Json*> sorted(const Json& scores, KeyOf key_of)
{
    std::vector<const Json*> order;
    for (const Json& score : scores)
        order.push_back(&score);
    std::sort(order.begin(), order.end(),
              [&](auto a, auto b) { return std::tuple(key_of(*a), a) < std::tuple(key_of(*b), b); });
    return order;
}

Table operators_table(const Json& scores, Timestamp now, Charset charset)
{
    Table table({{"CENTER"},
                 {"UNIT TYPE"},
                 {"UNITS", Align::kRight, 6},
                 {"OPERATOR"},
                 {"SIZE", Align::kLeft, 1, true},
                 {"MEDIAN", Align::kRight},
                 {"SPREAD", Align::kRight, 5},
                 {"SAMPLES", Align::kRight, 11},
                 {"RESULTS", Align::kRight, 12},
                 {"RATE", Align::kRight},
                 {"BANDWIDTH", Align::kRight, 7},
                 {"ERROR", Align::kRight, 8},
                 {"SCORE", Align::kRight},
                 {"95 %", Align::kRight, 3},
                 {"", Align::kLeft, 4},
                 {"TRUST", Align::kRight, 2},
                 {"TYPES", Align::kRight, 10},
                 {"MEASURED", Align::kRight, 9}});
    const double most = most_of(scores);
    const auto key_of = [](const Json& score) {
        return std::tuple(text_of(score, "center"), text_of(score, "unit_type"), text_of(score, "operator"),
                          number_of(score, "operations").value_or(0), number_of(score, "unit_count").value_or(0));
    };
    for (const Json* const score : sorted(scores, key_of)) {
        table.add_row({text_of(*score, "center"), text_of(*score, "unit_type"), count_of(*score, "unit_count"),
                       text_of(*score, "operator"), parameters_of(*score, "parameters"),
                       duration_of(*score, "median_s"), format_member(*score, "spread", format_percent),
                       count_of(*score, "sample_count"), results_of(*score),
                       rate_of(*score, "rate_flops", format_flops), rate_of(*score, "rate_bytes", format_bandwidth),
                       error_cell(*score), format_member(*score, "score", format_number), interval_of(*score),
                       bar_of(*score, most, charset), trust_of(*score), count_of(*score, "diversity"),
                       age_of(*score, "measured_at", now)});
    }
    return table;
}

/// Best first within each job type or category.
Table groups_table(const Json& scores, Timestamp now, Charset charset, const std::string& title)
{
    std::vector<Column> columns{{"CENTER"},
                                {"UNIT TYPE"},
                                {"SCORE", Align::kRight},
                                {"95 %", Align::kRight, 3},
                                {"", Align::kLeft, 4},
                                {"TRUST", Align::kRight, 2},
                                {"OLDEST", Align::kRight, 5},
                                {"WHY THERE IS NONE", Align::kLeft, 1, true}};
    const bool has_names = !title.empty();
    if (has_names) columns.insert(columns.begin(), Column{title, Align::kLeft, 0, true});
    Table table(std::move(columns));
    const double most = most_of(scores);
    const auto key_of = [](const Json& score) {
        return std::tuple(text_of(score, "name", ""), -number_of(score, "score").value_or(-1));
    };
    for (const Json* const score : sorted(scores, key_of)) {
        std::vector<Cell> cells{text_of(*score, "center"),
                                text_of(*score, "unit_type"),
                                format_member(*score, "score", format_number),
                                interval_of(*score),
                                bar_of(*score, most, charset),
                                trust_of(*score),
                                age_of(*score, "oldest_measured_at", now),
                                text_of(*score, "missing_reason", "")};
        if (has_names) cells.insert(cells.begin(), Cell(text_of(*score, "name", "")));
        table.add_row(std::move(cells));
    }
    return table;
}

/// A filter that only one grouping has chooses it.
std::string grouping_of(const ScoreOptions& options)
{
    if (!options.by.empty()) return options.by;
    if (!options.job_type.empty()) return "job_type";
    return options.category.empty() ? "operator" : "category";
}

std::string title_of(const std::string& by)
{
    if (by == "job_type") return "JOB TYPE";
    return by == "category" ? "CATEGORY" : "";
}

Outcome list_scores(Session& session, const ScoreOptions& options)
{
    const Charset charset = charset_of(session.console());
    const std::string by = grouping_of(options);
    const auto table = [&](const Json& scores, Timestamp now) {
        return by == "operator" ? operators_table(scores, now, charset)
                                : groups_table(scores, now, charset, title_of(by));
    };
    return print_list(session,
                      {.path = "/scores",
                       .query = {{"by", by == "operator" ? "" : by},
                                 {"policy", options.policy},
                                 {"center", options.center},
                                 {"unit_type", options.unit_type},
                                 {"operator", options.operator_id},
                                 {"job_type", options.job_type},
                                 {"category", options.category}},
                       .table = table,
                       .when_empty = by == "job_type" ? "No job type is known yet; types are learned when jobs end."
                                                      : "Nothing is measured yet; `fathom probe run --wait` measures."},
                      options);
}

} // namespace

void add_score_commands(CLI::App& app, Invocation& invocation)
{
    CLI::App& noun = add_noun(app, "score", "What was measured, and the points it gets");
    auto options = std::make_shared<ScoreOptions>();
    CLI::App& list = add_verb(noun, "list", "Scores of operators, job types, categories or whole unit types",
                              "fathom score list --by job_type --job-type solver");
    list.add_option("--by", options->by,
                    "operator (each operator and size; the default), job_type, category, or unit_type (one score each)")
        ->check(CLI::IsMember({"operator", "job_type", "category", "unit_type"}));
    list.add_option("--policy", options->policy, "Score by this policy, ID or ID@VERSION (default: the active one)");
    list.add_option("--center", options->center, "Only of this center (name or id)");
    list.add_option("--unit-type", options->unit_type, "Only of this unit type (id, or CENTER/NAME)");
    list.add_option("--operator", options->operator_id, "Only of this operator");
    list.add_option("--job-type", options->job_type, "Only for this job type; implies --by job_type");
    list.add_option("--category", options->category, "Only for this category; implies --by category");
    add_list_options(list, *options);
    on_chosen(list, invocation, std::move(options), list_scores);
    add_score_history(noun, invocation);
}

} // namespace fathom::cli
