#include "cli/explain.hpp"

#include "cli/display_text.hpp"
#include "cli/format_units.hpp"
#include "cli/json_view.hpp"

#include <algorithm>
#include <cmath>

namespace fathom::cli {
namespace {

std::string place_of(const Json& candidate)
{
    return text_of(candidate, "center") + "/" + text_of(candidate, "unit_type");
}

std::string units_text(const Json& json)
{
    const std::string count = text_of(json, "unit_count", "1");
    return count + (count == "1" ? " unit" : " units");
}

/// The bases of all its operators, each once: "measured", "measured, scaled".
std::string basis_of(const Json& prediction)
{
    std::vector<std::string> seen;
    for (const Json& one : items_of(prediction, "operators")) {
        const std::string basis = text_of(one, "basis");
        if (std::find(seen.begin(), seen.end(), basis) == seen.end()) seen.push_back(basis);
    }
    std::string text;
    for (const std::string& basis : seen)
        text += (text.empty() ? "" : ", ") + basis;
    return text.empty() ? "-" : text;
}

std::string interval_of(const Json& json)
{
    const std::optional<double> low = number_of(json, "low_s");
    const std::optional<double> high = number_of(json, "high_s");
    return low && high ? format_interval(*low, *high) : "-";
}

const Json* winner_of(const Json& decision)
{
    const Json& index = member(decision, "winner");
    const Json& candidates = items_of(decision, "candidates");
    if (!index.is_number_unsigned() || index.get<std::size_t>() >= candidates.size()) return nullptr;
    return &candidates[index.get<std::size_t>()];
}

/// Without operators nothing is predicted: a run of "0 s" would be a lie.
bool has_prediction(const Json& candidate)
{
    return !items_of(member(candidate, "prediction"), "operators").empty();
}

/// A predicted time of the candidate; "≥" where operators that were never measured are not in it.
std::string predicted_duration(const Json& candidate, const Json& holder, std::string_view name)
{
    if (!has_prediction(candidate)) return "-";
    const bool incomplete = number_of(member(candidate, "prediction"), "unknown_operators").value_or(0) > 0;
    return (incomplete ? "≥ " : "") + duration_of(holder, name);
}

std::string candidates_text(const Json& decision, const TableStyle& style)
{
    Table table({{"#", Align::kRight},
                 {"CENTER"},
                 {"UNIT TYPE"},
                 {"UNITS", Align::kRight, 4},
                 {"PREDICTED RUN", Align::kRight},
                 {"INTERVAL", Align::kRight, 5},
                 {"WAIT", Align::kRight, 2},
                 {"COMPLETION", Align::kRight, 1},
                 {"BASIS", Align::kLeft, 3, true},
                 {"OUTCOME", Align::kLeft, 0, true}});
    const Json* const winner = winner_of(decision);
    std::size_t rank = 0;
    for (const Json& one : items_of(decision, "candidates")) {
        if (!is_true(one, "feasible")) continue;
        const Json& prediction = member(one, "prediction");
        const std::string reason = text_of(one, "reason", "");
        const Cell outcome = &one == winner ? Cell("chosen", Tone::kGood) : Cell(reason);
        table.add_row({std::to_string(++rank), text_of(one, "center"), text_of(one, "unit_type"),
                       count_of(one, "unit_count"), predicted_duration(one, prediction, "run_s"),
                       has_prediction(one) ? interval_of(prediction) : "-", duration_of(one, "wait_s"),
                       predicted_duration(one, one, "completion_s"), basis_of(prediction), outcome});
    }
    return table.empty() ? std::string() : "\nCandidates, best first\n" + table.render(style);
}

/// "Units: 3 units, the knee of its scaling: 6 units would be 25 % faster", and what each count would have given.
std::string units_chosen_text(const Json& winner, const TableStyle& style)
{
    const std::string reason = text_of(member(winner, "scaling"), "reason", "");
    if (reason.empty()) return {};
    std::string text = "\nUnits: " + printable(reason) + "\n";
    const Json& counts = items_of(winner, "counts");
    if (counts.size() < 2) return text;
    Table table({{"UNITS", Align::kRight},
                 {"WAIT", Align::kRight},
                 {"PREDICTED RUN", Align::kRight},
                 {"COMPLETION", Align::kRight},
                 {""}});
    for (const Json& one : counts) {
        const bool is_chosen = number_of(one, "unit_count") == number_of(winner, "unit_count");
        table.add_row({count_of(one, "unit_count"), duration_of(one, "wait_s"), duration_of(one, "run_s"),
                       duration_of(one, "completion_s"), is_chosen ? Cell("chosen", Tone::kGood) : Cell("")});
    }
    return text + table.render(style);
}

/// When and how fast its data are moved.
std::string transfer_text(const Json& winner)
{
    const Json& transfer = member(winner, "transfer");
    if (!transfer.is_object()) return {};
    std::string text = "\nData: in " + duration_of(transfer, "in_s") + ", out " + duration_of(transfer, "out_s") +
                       ", at " + format_bandwidth(number_of(transfer, "rate_bytes").value_or(0)) + "\n";
    const Json& window = member(transfer, "window");
    if (const std::optional<Timestamp> start = time_of(window, "start"))
        text += "Network window: from " + format_time(*start) + " on; its data would take " +
                duration_of(window, "transfer_now_s") + " at " +
                format_bandwidth(number_of(window, "rate_now_bytes").value_or(0)) + " now\n";
    return text;
}

std::string impossible_text(const Json& decision, const TableStyle& style)
{
    Table table({{"CENTER"}, {"UNIT TYPE"}, {"REASON", Align::kLeft, 0, true}});
    for (const Json& one : items_of(decision, "candidates")) {
        if (is_true(one, "feasible")) continue;
        table.add_row({text_of(one, "center"), text_of(one, "unit_type"), text_of(one, "reason")});
    }
    return table.empty() ? std::string() : "\nNot possible\n" + table.render(style);
}

std::string evidence_text(const Json& decision, Timestamp now, const TableStyle& style)
{
    Table table({{"AT"},
                 {"OPERATOR"},
                 {"SIZE", Align::kLeft, 2, true},
                 {"COUNT", Align::kRight},
                 {"TIME EACH", Align::kRight},
                 {"TOTAL", Align::kRight},
                 {"INTERVAL", Align::kRight, 4},
                 {"BASIS"},
                 {"MEASURED", Align::kRight, 1},
                 {"PROBE RUN", Align::kLeft, 3}});
    for (const Json& candidate : items_of(decision, "candidates")) {
        if (!is_true(candidate, "feasible")) continue;
        for (const Json& one : items_of(member(candidate, "prediction"), "operators")) {
            const bool known = text_of(one, "basis") != "unknown";
            table.add_row({place_of(candidate), text_of(one, "id"), text_of(one, "parameters_key"),
                           count_of(one, "count"), known ? duration_of(one, "execution_s") : "-",
                           known ? duration_of(one, "total_s") : "-", known ? interval_of(one) : "-",
                           text_of(one, "basis"), age_of(one, "measured_at", now), text_of(one, "probe_run_id")});
        }
    }
    return table.empty() ? std::string() : "\nEvidence: what the probes measured\n" + table.render(style);
}

std::string assumptions_text(const Json& decision)
{
    std::string text;
    for (const Json& one : items_of(decision, "assumptions")) {
        if (one.is_string()) text += "  - " + printable(one.get<std::string>()) + "\n";
    }
    return text.empty() ? text : "\nAssumptions\n" + text;
}

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

std::string predicted_against_actual(const Json& job, const Json& placement, const TableStyle& style)
{
    const Json& actual = member(placement, "actual");
    const std::optional<double> run = number_of(actual, "run_s");
    if (!run) return {};
    const Json& predicted = member(job, "predicted");
    std::optional<double> expected = number_of(actual, "predicted_run_s");
    if (!expected) expected = number_of(predicted, "run_s");
    Table table({{""},
                 {"PREDICTED", Align::kRight},
                 {"INTERVAL", Align::kRight, 1},
                 {"ACTUAL", Align::kRight},
                 {"DIFFERENCE", Align::kRight}});
    const auto difference = [](std::optional<double> of, std::optional<double> to) -> std::string {
        if (!of || !to || *to <= 0) return "-";
        const double fraction = *of / *to - 1;
        if (std::abs(fraction) < 0.0005) return "none";
        return format_percent(std::abs(fraction)) + (fraction > 0 ? " longer" : " shorter");
    };
    table.add_row({"run", expected ? format_duration(*expected) : "-", interval_of(predicted), format_duration(*run),
                   difference(run, expected)});
    if (number_of(actual, "wait_s")) {
        table.add_row({"wait", duration_of(predicted, "wait_s"), "-", duration_of(actual, "wait_s"),
                       difference(number_of(actual, "wait_s"), number_of(predicted, "wait_s"))});
    }
    return "\nPredicted against actual\n" + table.render(style);
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
        text += "Why: " + printable(text_of(*winner, "reason")) + "\n";
    else
        text += "No center can run it.\n";
    text += candidates_text(decision, inner);
    if (winner != nullptr) text += units_chosen_text(*winner, inner) + transfer_text(*winner);
    text += impossible_text(decision, inner) + assumptions_text(decision) + evidence_text(decision, now, inner);
    return text;
}

std::string render_explanation(const Json& job, const Json& placement, Timestamp now, const TableStyle& style)
{
    const std::string state = text_of(job, "state", text_of(placement, "state"));
    const Json& decision = member(placement, "decision");
    std::string text = "Job " + printable(text_of(job, "name", "")) + " (" + printable(text_of(job, "id")) + ") is " +
                       printable(state);
    if (state == "succeeded" || state == "failed") text.replace(text.rfind(" is "), 4, " has ");
    if (const Json* const winner = winner_of(decision)) text += "; " + printable(headline_of(job, *winner, state));
    text += ".\n";
    if (const std::string waiting = text_of(job, "waiting_reason", ""); !waiting.empty())
        text += "Waits: " + printable(waiting) + "\n";
    if (decision.is_object())
        text += render_decision(decision, now, style);
    else
        text += "No decision is stored for it.\n";
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
