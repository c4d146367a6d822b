#include "cli/jobs/operator_accuracy.hpp"

#include "cli/client/json_view.hpp"
#include "cli/text/format_units.hpp"

#include <cmath>

namespace fathom::cli {
namespace {

struct OperatorAccuracyOptions {
    std::string operator_id;
    std::string unit_type;
    std::string center;
};

/// "12.0 % slower", of the median of actual / predicted.
std::string typical_text(const Json& one)
{
    const double ratio = number_of(one, "median_ratio").value_or(0);
    if (!(ratio > 0)) return "-";
    if (std::abs(ratio - 1) < 0.01) return "as predicted";
    return format_percent(std::abs(ratio - 1)) + (ratio > 1 ? " slower" : " faster");
}

/// "82.0 %"; red where intervals are too narrow, and enough sizes say so.
Cell within_interval_cell(const Json& one)
{
    constexpr double kMinForTone = 20;
    const std::optional<double> share = number_of(one, "within_share");
    if (!share) return "-";
    const bool is_bad = number_of(one, "compared_count").value_or(0) >= kMinForTone && *share < 0.7;
    return Cell(format_percent(*share), is_bad ? Tone::kBad : Tone::kPlain);
}

/// What keeps the figures beside it from being exact.
std::string caveat_text(const Json& one)
{
    std::string text;
    const auto add = [&](const std::string& part) { text += (text.empty() ? "" : "; ") + part; };
    const double compared = number_of(one, "compared_count").value_or(0);
    const double measured = number_of(one, "measured_count").value_or(0);
    if (compared > measured) add(format_count(static_cast<std::int64_t>(compared - measured)) + " from other sizes");
    if (number_of(one, "unknown_count").value_or(0) > 0) add(count_of(one, "unknown_count") + " not measured there");
    const double similarity = number_of(one, "similarity").value_or(1);
    if (similarity < 0.995) add("calls are like it (" + format_percent(similarity) + ")");
    return text.empty() ? "-" : text;
}

Table accuracy_table(const Json& items)
{
    Table table({{"CENTER"},
                 {"UNIT TYPE"},
                 {"KIND", Align::kLeft, 3},
                 {"OPERATOR"},
                 {"RUNS", Align::kRight},
                 {"PREDICTED", Align::kRight},
                 {"ACTUAL", Align::kRight},
                 {"TYPICALLY"},
                 {"IN 80 % INTERVAL", Align::kRight, 1},
                 {"CAVEATS", Align::kLeft, 2}});
    for (const Json& one : items)
        table.add_row({text_of(one, "center"), text_of(one, "unit_type"), text_of(one, "resource_type"),
                       text_of(one, "operator"), count_of(one, "run_count"), duration_of(one, "predicted_s"),
                       duration_of(one, "actual_s"), typical_text(one), within_interval_cell(one), caveat_text(one)});
    return table;
}

Outcome show_operator_accuracy(Session& session, const OperatorAccuracyOptions& options)
{
    Query query;
    if (!options.operator_id.empty()) query.emplace_back("operator", options.operator_id);
    if (!options.unit_type.empty()) query.emplace_back("unit_type", options.unit_type);
    if (!options.center.empty()) query.emplace_back("center", options.center);
    return print_answer(session, session.get("/predictions:operators", query), [&](const Json& answer) {
        const Json& items = items_of(answer);
        if (items.empty())
            return (query.empty() ? std::string("No profiled run")
                                  : std::string("No profiled run of what is asked for")) +
                   " has ended well on one unit within 90 days; `profile: true` in a job's file, or "
                   "`fathom project set NAME --profile-jobs on`, has jobs profiled.\n";
        return accuracy_table(items).render(table_style(session));
    });
}

} // namespace

void add_operator_accuracy_command(CLI::App& accuracy, Invocation& invocation)
{
    auto options = std::make_shared<OperatorAccuracyOptions>();
    CLI::App& command = add_verb(accuracy, "operators",
                                 "Each operator on each unit type: what probes let expect, and what profiled runs took",
                                 "fathom accuracy operators --operator dgemm");
    command.add_option("--operator", options->operator_id, "Only of this operator");
    command.add_option("--unit-type", options->unit_type, "Only of this unit type (id, or center/unit type)");
    command.add_option("--center", options->center, "Only of this center (name or id)");
    on_chosen(command, invocation, std::move(options), show_operator_accuracy);
}

} // namespace fathom::cli
