#include "cli/jobs/explain.hpp"

#include "cli/client/json_view.hpp"
#include "cli/jobs/explain_tables.hpp"
#include "cli/jobs/left_out.hpp"
#include "cli/jobs/own_loops.hpp"
#include "cli/text/display_text.hpp"
#include "cli/text/format_units.hpp"
#include "core/model/money.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace fathom::cli {
namespace {

std::string headline_of(const Json& job, const Json& winner, std::string_view state)
{
    const Json& attempt = member(job, "attempt");
    // The job may have run elsewhere than this decision says, after it was decided again.
    const Json& where = attempt.is_object() ? attempt : winner;
    const std::string place = place_of(where) + " on " + units_text(where);
    if (state == "succeeded" || state == "failed") return "it ran at " + place;
    if (state == "running") return "it runs at " + place;
    if (attempt.is_object()) return "it was sent to " + place;
    return "it would go to " + place;
}

/// "5.0 % longer"
std::string difference_text(std::optional<double> of, std::optional<double> to, const char* more, const char* less)
{
    if (!of || !to || *to <= 0) return "-";
    const double fraction = *of / *to - 1;
    if (std::abs(fraction) < 0.0005) return "none";
    return format_percent(std::abs(fraction)) + (fraction > 0 ? more : less);
}

std::string interval_between(const Json& json, std::string_view low, std::string_view high)
{
    const std::optional<double> from = number_of(json, low);
    const std::optional<double> to = number_of(json, high);
    return from && to ? format_interval(*from, *to) : "-";
}

std::optional<double> amount_of(const Json& json, std::string_view name)
{
    const Json& amount = member(member(json, name), "amount");
    if (!amount.is_string()) return std::nullopt;
    const std::optional<std::int64_t> micros = parse_amount(amount.get<std::string>());
    if (!micros) return std::nullopt;
    return static_cast<double>(*micros) * 1e-6;
}

std::string predicted_against_actual(const Json& job, const Json& placement, const TableStyle& style)
{
    const Json& actual = member(placement, "actual");
    const std::optional<double> run = number_of(actual, "run_s");
    if (!run) return {};
    const Json& predicted = member(job, "predicted");
    std::optional<double> expected = number_of(actual, "predicted_run_s");
    if (!expected) expected = number_of(predicted, "run_s");
    std::string interval = interval_between(actual, "predicted_low_s", "predicted_high_s");
    if (interval == "-") interval = interval_of(predicted);
    Table table({{""},
                 {"PREDICTED", Align::kRight},
                 {"INTERVAL", Align::kRight, 1},
                 {"ACTUAL", Align::kRight},
                 {"DIFFERENCE", Align::kRight}});
    table.add_row({"run", expected ? format_duration(*expected) : "-", interval, format_duration(*run),
                   difference_text(run, expected, " longer", " shorter")});
    if (const auto wait = number_of(actual, "start_wait_s")) {
        table.add_row({"start", duration_of(actual, "predicted_start_wait_s"),
                       interval_between(actual, "predicted_start_wait_low_s", "predicted_start_wait_high_s"),
                       format_duration(*wait),
                       difference_text(wait, number_of(actual, "predicted_start_wait_s"), " later", " earlier")});
    } else if (number_of(actual, "wait_s")) {
        table.add_row(
            {"wait", duration_of(predicted, "wait_s"), "-", duration_of(actual, "wait_s"),
             difference_text(number_of(actual, "wait_s"), number_of(predicted, "wait_s"), " longer", " shorter")});
    }
    if (amount_of(actual, "cost"))
        table.add_row(
            {"cost", money_of(actual, "predicted_cost"), "-", money_of(actual, "cost"),
             difference_text(amount_of(actual, "cost"), amount_of(actual, "predicted_cost"), " more", " less")});
    return "\nPredicted against actual\n" + table.render(style);
}

/// Why it waits, what holds it back most first, and when it would start.
std::string waiting_text(const Json& placement, Timestamp now)
{
    const Json& waiting = member(placement, "waiting");
    std::string text;
    std::size_t rank = 0;
    for (const Json& one : items_of(waiting, "reasons"))
        text += "  " + std::to_string(++rank) + ". " + printable(text_of(one, "text")) + "\n";
    if (!text.empty()) text = "\nWhy it waits\n" + text;
    const Json& start = member(waiting, "expected_start");
    const std::optional<Timestamp> at = time_of(start, "at");
    if (!at) return text;
    const std::optional<Timestamp> low = time_of(start, "low");
    const std::optional<Timestamp> high = time_of(start, "high");
    text += "Expected start: " + format_age(*at, now) + " (" + format_time(*at) + ")";
    if (low && high && *low < *high) text += "; 80 %: " + format_time(*low) + " to " + format_time(*high);
    return text + "\n";
}

/// The share of the job that is not measured because there is too much of it.
std::string unmeasured_text(const Json& work, const TableStyle& style)
{
    const auto details = left_out_details(work);
    if (details.empty()) return {};
    return "\nNot measured: predicted from other sizes of these operators, else as the rest of the run\n" +
           render_details(details, style);
}

/// What the program's own loops are like: operators stand for them only so far.
std::string own_loops_text(const Json& work, const TableStyle& style)
{
    const Table loops = loops_table(loops_of_job(work));
    if (loops.empty()) return {};
    return "\nIts own loops: each goes as the operator that it is like, the less alike the less surely\n" +
           loops.render(style);
}

TableStyle indented(TableStyle style)
{
    style.indent = 2;
    return style;
}

} // namespace

std::string render_decision(const Json& decision, Timestamp now, const TableStyle& style)
{
    const TableStyle inner = indented(style);
    const Json* const winner = winner_of(decision);
    std::string text;
    if (winner != nullptr)
        text += "Why: " + printable(text_of(*winner, "reason")) + "\n" + outlook_text(*winner, inner);
    else
        text += "No center can run it.\n";
    if (member(decision, "rank_text").is_string()) text += "Rank: " + printable(text_of(decision, "rank_text")) + "\n";
    text += candidates_text(decision, inner);
    if (winner != nullptr) text += units_chosen_text(*winner, inner) + transfer_text(*winner);
    return text + counterfactuals_text(decision) + impossible_text(decision, inner) + devices_text(decision) +
           assumptions_text(decision) + evidence_text(decision, now, inner);
}

std::string render_comparison(const Json& before, const Json& after, const TableStyle& style)
{
    const std::array<const Json*, 2> winners{winner_of(before), winner_of(after)};
    Table table({{""}, {"NOW"}, {"WHAT-IF"}});
    const auto add = [&](const char* name, const auto& text) {
        std::vector<Cell> row{name};
        for (const Json* winner : winners)
            row.emplace_back(winner == nullptr ? std::string("-") : text(*winner));
        if (row[1].text != "-" || row[2].text != "-") table.add_row(std::move(row));
    };
    add("place", place_of);
    add("units", [](const Json& one) { return count_of(one, "unit_count"); });
    add("start", [](const Json& one) { return after_text(number_of(one, "start_s").value_or(0)); });
    add("run", [](const Json& one) { return predicted_duration(one, member(one, "prediction"), "run_s"); });
    add("completion", [](const Json& one) { return predicted_duration(one, one, "completion_s"); });
    add("cost", [](const Json& one) { return money_of(one, "cost"); });
    add("energy", energy_of);
    std::string text;
    if (winners[0] == nullptr || winners[1] == nullptr)
        text = winners[1] == nullptr ? "Nothing could run it then.\n" : "It could run then; now nothing can run it.\n";
    else if (text_of(*winners[0], "unit_type_id") != text_of(*winners[1], "unit_type_id"))
        text = "It would go to " + printable(place_of(*winners[1])) + " instead of " +
               printable(place_of(*winners[0])) + ".\n";
    else
        text = "It would stay at " + printable(place_of(*winners[0])) + ".\n";
    return table.empty() ? text : text + "\n" + table.render(indented(style));
}

std::string render_explanation(const Json& job, const Json& placement, const Json& work, Timestamp now,
                               const TableStyle& style)
{
    const std::string state = text_of(job, "state", text_of(placement, "state"));
    const Json& decision = member(placement, "decision");
    std::string text = "Job " + printable(text_of(job, "name", "")) + " (" + printable(text_of(job, "id")) + ") is " +
                       printable(state);
    if (state == "succeeded" || state == "failed") text.replace(text.rfind(" is "), 4, " has ");
    if (const Json* const winner = winner_of(decision)) text += "; " + printable(headline_of(job, *winner, state));
    text += ".\n";
    if (const std::string waiting = text_of(job, "waiting_reason", ""); !waiting.empty())
        text += "Now: " + printable(waiting) + "\n";
    text += waiting_text(placement, now);
    if (decision.is_object())
        text += render_decision(decision, now, style) + unmeasured_text(work, indented(style));
    else
        text += "No decision is stored for it.\n";
    text += own_loops_text(work, indented(style));
    text += predicted_against_actual(job, placement, indented(style));
    if (const std::optional<Timestamp> decided = time_of(placement, "decided_at")) {
        text += "\nDecided " + format_age(*decided, now) + " (" + format_time(*decided) + ") by " +
                printable(text_of(placement, "decided_by")) + ".\n";
    } else if (decision.is_object()) {
        text += "\nNot placed yet: this is what would be decided now.\n";
    }
    return text;
}

} // namespace fathom::cli
