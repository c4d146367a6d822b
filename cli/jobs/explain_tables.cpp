#include "cli/jobs/explain_tables.hpp"

#include "cli/client/json_view.hpp"
#include "cli/text/display_text.hpp"
#include "cli/text/format_units.hpp"
#include "core/base/join_text.hpp"
#include "core/decide/routing/decision_text.hpp"
#include "core/model/money.hpp"

#include <algorithm>
#include <array>

namespace fathom::cli {
namespace {

constexpr std::size_t kPlacesShown = 8;
constexpr std::size_t kEvidenceShown = 3;
constexpr std::size_t kCentersNamed = 4;

/// The bases of all its operators, each once: "measured", "measured, scaled".
std::string basis_of(const Json& prediction)
{
    std::vector<std::string> seen;
    for (const Json& one : items_of(prediction, "operators")) {
        const std::string basis = text_of(one, "basis");
        if (std::find(seen.begin(), seen.end(), basis) == seen.end()) seen.push_back(basis);
    }
    const std::string text = join_text(seen);
    return text.empty() ? "-" : text;
}

/// Without operators nothing is predicted: a run of "0 s" would be a lie.
bool has_prediction(const Json& candidate)
{
    return !items_of(member(candidate, "prediction"), "operators").empty();
}

/// Whether any place that could run it has the member.
bool has_any(const Json& decision, std::string_view name)
{
    const Json& candidates = items_of(decision, "candidates");
    return std::any_of(candidates.begin(), candidates.end(),
                       [&](const Json& one) { return is_true(one, "feasible") && !member(one, name).is_null(); });
}

/// " (80 %: 11.8–12.9 s)" of `low_s` and `high_s`; empty where they are the same.
std::string likely_text(const Json& json)
{
    const std::optional<double> low = number_of(json, "low_s");
    const std::optional<double> high = number_of(json, "high_s");
    return low && high && *low < *high ? " (80 %: " + format_interval(*low, *high) + ")" : std::string();
}

/// What earlier runs made of the raw prediction; empty without any.
std::string correction_text(const Json& correction)
{
    const double own = number_of(correction, "job_count").value_or(0);
    if (own + number_of(correction, "like_count").value_or(0) <= 0) return {};
    return "× " + format_number(number_of(correction, "factor").value_or(1)) + " of the " +
           duration_of(correction, "raw_prediction_s") + " of computing that measurements predict, by " +
           count_of(correction, "job_count") + (own == 1 ? " run" : " runs") + " of its type there and " +
           count_of(correction, "like_count") + " others";
}

/// "\nTITLE\n  - one\n  - two\n" of the texts in a list.
std::string bullets(const std::string& title, const Json& list, const char* member_name)
{
    std::string text;
    for (const Json& one : list) {
        const Json& line = member_name == nullptr ? one : member(one, member_name);
        if (line.is_string()) text += "  - " + printable(line.get<std::string>()) + "\n";
    }
    return text.empty() ? text : "\n" + title + "\n" + text;
}

std::string more_text(std::size_t count, std::size_t shown)
{
    return count > shown ? "  and " + std::to_string(count - shown) + " more\n" : std::string();
}

} // namespace

std::string after_text(double seconds)
{
    return seconds < 0.0005 ? "at once" : "after " + format_duration(seconds);
}

const Json* winner_of(const Json& decision)
{
    const Json& index = member(decision, "winner");
    const Json& candidates = items_of(decision, "candidates");
    if (!index.is_number_unsigned() || index.get<std::size_t>() >= candidates.size()) return nullptr;
    return &candidates[index.get<std::size_t>()];
}

std::string place_of(const Json& candidate)
{
    return text_of(candidate, "center") + "/" + text_of(candidate, "unit_type");
}

std::string units_text(const Json& json)
{
    const std::string count = text_of(json, "unit_count", "1");
    return count + (count == "1" ? " unit" : " units");
}

std::string interval_of(const Json& json)
{
    const std::optional<double> low = number_of(json, "low_s");
    const std::optional<double> high = number_of(json, "high_s");
    return low && high ? format_interval(*low, *high) : "-";
}

std::string predicted_duration(const Json& candidate, const Json& holder, std::string_view name)
{
    if (!has_prediction(candidate)) return "-";
    const bool incomplete = number_of(member(candidate, "prediction"), "unknown_operators").value_or(0) > 0;
    return (incomplete ? "≥ " : "") + duration_of(holder, name);
}

std::string money_of(const Json& json, std::string_view name)
{
    const Json& money = member(json, name);
    if (!money.is_object()) return "-";
    const std::string amount = text_of(money, "amount");
    const std::string currency = text_of(money, "currency", "");
    // Predictions are not known to a millionth; small amounts would vanish in cents.
    const std::optional<std::int64_t> micros = parse_amount(amount);
    constexpr std::int64_t kWorthCents = 100'000;
    if (micros && *micros >= kWorthCents) return cost_text(static_cast<double>(*micros) * 1e-6, currency);
    return amount + " " + currency;
}

std::string energy_of(const Json& candidate)
{
    constexpr double kJoulesPerKilowattHour = 3.6e6;
    const std::optional<double> joules = number_of(candidate, "energy_j");
    if (!joules) return "-";
    if (*joules >= kJoulesPerKilowattHour / 10) return format_number(*joules / kJoulesPerKilowattHour) + " kWh";
    return *joules >= 1000 ? format_number(*joules / 1000) + " kJ" : format_number(*joules) + " J";
}

std::string outlook_text(const Json& winner, const TableStyle& style)
{
    const Json& start = member(winner, "expected_start");
    if (!start.is_object()) return {};
    const Json& prediction = member(winner, "prediction");
    std::vector<std::pair<std::string, Cell>> details;
    const double start_s = std::max(number_of(start, "wait_s").value_or(0), number_of(winner, "start_s").value_or(0));
    details.emplace_back("Start", after_text(start_s) + likely_text(start));
    if (has_prediction(winner))
        details.emplace_back("Run", predicted_duration(winner, prediction, "run_s") + likely_text(prediction));
    else if (const std::string basis = text_of(winner, "run_basis", ""); !basis.empty())
        details.emplace_back("Run", duration_of(prediction, "run_s") + likely_text(prediction) + ", from " + basis);
    for (const Json& rung : items_of(winner, "rungs")) {
        const double weight = number_of(rung, "weight").value_or(0);
        details.emplace_back("Basis", (weight < 1 ? format_percent(weight) + " " : "") + text_of(rung, "text"));
    }
    details.emplace_back("Completion", "after " + predicted_duration(winner, winner, "completion_s"));
    if (!member(winner, "cost").is_null()) details.emplace_back("Cost", money_of(winner, "cost"));
    if (!member(winner, "energy_j").is_null()) details.emplace_back("Energy", energy_of(winner));
    if (const std::string corrected = correction_text(member(winner, "correction")); !corrected.empty())
        details.emplace_back("Corrected", corrected);
    return "\n" + render_details(details, style);
}

std::string candidates_text(const Json& decision, const TableStyle& style)
{
    const bool has_cost = has_any(decision, "cost");
    const bool has_energy = has_any(decision, "energy_j");
    std::vector<Column> columns{{"#", Align::kRight},
                                {"CENTER"},
                                {"UNIT TYPE"},
                                {"UNITS", Align::kRight, 4},
                                {"PREDICTED RUN", Align::kRight},
                                {"INTERVAL", Align::kRight, 5},
                                {"WAIT", Align::kRight, 2},
                                {"COMPLETION", Align::kRight, 1}};
    if (has_cost) columns.push_back({"COST", Align::kRight, 1});
    if (has_energy) columns.push_back({"ENERGY", Align::kRight, 3});
    columns.push_back({"BASIS", Align::kLeft, 3, true});
    columns.push_back({"OUTCOME", Align::kLeft, 0, true});
    Table table(std::move(columns));
    const Json* const winner = winner_of(decision);
    std::size_t rank = 0;
    for (const Json& one : items_of(decision, "candidates")) {
        if (!is_true(one, "feasible") || ++rank > kPlacesShown) continue;
        const Json& prediction = member(one, "prediction");
        std::vector<Cell> row{std::to_string(rank),
                              text_of(one, "center"),
                              text_of(one, "unit_type"),
                              count_of(one, "unit_count"),
                              predicted_duration(one, prediction, "run_s"),
                              has_prediction(one) ? interval_of(prediction) : "-",
                              duration_of(one, "wait_s"),
                              predicted_duration(one, one, "completion_s")};
        if (has_cost) row.emplace_back(money_of(one, "cost"));
        if (has_energy) row.emplace_back(energy_of(one));
        row.emplace_back(basis_of(prediction));
        row.push_back(&one == winner ? Cell("chosen", Tone::kGood) : Cell(text_of(one, "reason", "")));
        table.add_row(std::move(row));
    }
    if (table.empty()) return {};
    return "\nCandidates, best first\n" + table.render(style) + more_text(rank, kPlacesShown);
}

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

namespace {

/// By filter, for more places than can be listed: how many it ruled out, and at which centers.
std::string filter_trace_table(const Json& trace, const TableStyle& style)
{
    Table table({{"RULED OUT BY"}, {"PLACES", Align::kRight}, {"CENTERS", Align::kLeft, 0, true}});
    for (const Json& step : items_of(trace, "steps")) {
        std::string centers;
        std::size_t named = 0;
        for (const Json& one : items_of(step, "centers")) {
            if (++named > kCentersNamed) continue;
            centers += (centers.empty() ? "" : "; ") + text_of(one, "center") + ": " + text_of(one, "reason", "");
        }
        if (named > kCentersNamed) centers += "; and " + std::to_string(named - kCentersNamed) + " more";
        table.add_row({text_of(step, "filter"), count_of(step, "removed"), centers});
    }
    return table.empty() ? std::string() : table.render(style);
}

} // namespace

std::string impossible_text(const Json& decision, const TableStyle& style)
{
    const Json& candidates = items_of(decision, "candidates");
    const Json& trace = member(decision, "filter_trace");
    const std::string left =
        number_of(trace, "left") && number_of(trace, "candidates")
            ? " (" + count_of(trace, "left") + " of " + count_of(trace, "candidates") + " unit types can run it)"
            : std::string();
    const auto removed = static_cast<std::size_t>(
        std::count_if(candidates.begin(), candidates.end(), [](const Json& one) { return !is_true(one, "feasible"); }));
    const double of_all = number_of(trace, "candidates").value_or(0) - number_of(trace, "left").value_or(0);
    if (of_all > static_cast<double>(kPlacesShown)) {
        const std::string table = filter_trace_table(trace, style);
        if (!table.empty()) return "\nNot possible" + left + "\n" + table;
    }
    Table table({{"CENTER"}, {"UNIT TYPE"}, {"RULED OUT BY", Align::kLeft, 1}, {"REASON", Align::kLeft, 0, true}});
    std::size_t shown = 0;
    for (const Json& one : candidates) {
        if (is_true(one, "feasible") || ++shown > kPlacesShown) continue;
        table.add_row({text_of(one, "center"), text_of(one, "unit_type"),
                       text_of(one, "removed_by", text_of(one, "criterion")), text_of(one, "reason")});
    }
    if (table.empty()) return {};
    return "\nNot possible" + left + "\n" + table.render(style) + more_text(removed, kPlacesShown);
}

std::string counterfactuals_text(const Json& decision)
{
    return bullets("What would change it", items_of(decision, "counterfactuals"), "text");
}

std::string devices_text(const Json& decision)
{
    std::string text;
    for (const Json& one : items_of(decision, "devices")) {
        text += "  - " + printable(text_of(one, "center")) + ": " + duration_of(one, "cpu_s") + " on " +
                printable(text_of(one, "cpu_unit_type")) + ", " + duration_of(one, "gpu_s") + " on " +
                printable(text_of(one, "gpu_unit_type")) +
                " with its transfers: " + format_number(number_of(one, "speedup").value_or(0)) + " × as fast, so " +
                printable(text_of(one, "run_on")) + " (threshold " + text_of(one, "threshold") + ")" +
                (is_true(one, "decides") ? "; the other was set aside\n" : "\n");
    }
    return text.empty() ? text : "\nCPU or GPU\n" + text;
}

std::string assumptions_text(const Json& decision)
{
    return bullets("Assumptions", items_of(decision, "assumptions"), nullptr);
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
    std::size_t shown = 0;
    for (const Json& candidate : items_of(decision, "candidates")) {
        if (!is_true(candidate, "feasible") || ++shown > kEvidenceShown) continue;
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

} // namespace fathom::cli
