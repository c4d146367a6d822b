#include "cli/centers/unit_balance.hpp"

#include "cli/client/event_stream.hpp"
#include "cli/client/json_view.hpp"
#include "cli/text/display_text.hpp"
#include "cli/text/format_units.hpp"
#include "cli/text/plot.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <ostream>
#include <thread>

namespace fathom::cli {
namespace {

constexpr std::size_t kScaleColumns = 21; // odd: 0 is in the middle
constexpr std::int64_t kPageSteps = 1000;
constexpr int kBalanceReconnects = 8;

/// `center/unit`; a unit's own name may hold a slash, a center's not.
struct UnitPlace {
    std::string center;
    std::string unit;
};

Result<UnitPlace> parse_place(const std::string& text)
{
    const std::size_t slash = text.find('/');
    if (slash == std::string::npos || slash == 0 || slash + 1 == text.size())
        return Error{Errc::kInvalid, "a balanced unit is named CENTER/UNIT"};
    return UnitPlace{text.substr(0, slash), text.substr(slash + 1)};
}

std::string balance_path(const UnitPlace& place)
{
    return "/centers/" + path_segment(place.center) + "/units/" + path_segment(place.unit) + "/balance";
}

/// The steps that are asked for, the oldest first. The server gives the newest first.
Result<std::vector<Json>> read_steps(Session& session, const std::string& path, const BalanceView& view)
{
    std::vector<Json> steps;
    std::string page_token;
    do {
        const std::int64_t left = view.last - std::ssize(steps);
        const Result<Json> page = session.get(path, {{"page_size", std::to_string(std::min(left, kPageSteps))},
                                                     {"page_token", page_token},
                                                     {"since", view.since}});
        if (!page) return page.error();
        for (const Json& step : items_of(*page))
            steps.push_back(step);
        page_token = text_of(*page, "next_page_token", "");
    } while (!page_token.empty() && std::ssize(steps) < view.last);
    std::reverse(steps.begin(), steps.end());
    return steps;
}

std::string figure(const Json& json, std::string_view name, bool is_signed)
{
    const std::optional<double> value = number_of(json, name);
    if (!value) return is_signed ? "     -" : "    -";
    return is_signed ? fmt::format("{:+.3f}", *value) : fmt::format("{:.3f}", *value);
}

/// "-2 sub-units, +100 MHz, -1 precision step"; empty where nothing was to be changed.
std::string actions_text(const Json& step)
{
    const Json& actions = member(step, "actions");
    std::vector<std::string> parts;
    const auto add = [&](const char* name, const char* one, const char* many) {
        const auto change = static_cast<std::int64_t>(number_of(actions, name).value_or(0));
        if (change != 0) parts.push_back(fmt::format("{:+} {}", change, std::abs(change) == 1 ? one : many));
    };
    add("sub_units", "sub-unit", "sub-units");
    add("clock_mhz", "MHz", "MHz");
    add("precision_steps", "precision step", "precision steps");
    return fmt::format("{}", fmt::join(parts, ", "));
}

std::string deed_text(const Json& step)
{
    const std::string actions = text_of(step, "outcome") == "acted" ? actions_text(step) : "";
    return (actions.empty() ? "" : (is_true(step, "dry_run") ? "would: " : "") + actions + "; ") +
           text_of(step, "reason");
}

/// -1 to 1: ( and ) at the ends of the band, e and u where they are, * where they meet.
std::string scale_of(const Json& step)
{
    std::string scale(kScaleColumns, ' ');
    const auto column = [](double value) {
        return static_cast<std::size_t>(std::lround((std::clamp(value, -1.0, 1.0) + 1) / 2 * (kScaleColumns - 1)));
    };
    constexpr std::size_t kMiddle = kScaleColumns / 2;
    scale[kMiddle] = '|';
    if (const std::optional<double> band = number_of(step, "band")) {
        const auto half = static_cast<std::size_t>(std::lround(std::clamp(*band, 0.0, 1.0) * kMiddle));
        scale[kMiddle - std::max<std::size_t>(half, 1)] = '(';
        scale[kMiddle + std::max<std::size_t>(half, 1)] = ')';
    }
    const std::optional<double> error = number_of(step, "error");
    const std::optional<double> output = number_of(step, "output");
    if (output) scale[column(*output)] = 'u';
    if (error) scale[column(*error)] = output && column(*output) == column(*error) ? '*' : 'e';
    return "[" + scale + "]";
}

std::string clock_of(const Json& step)
{
    const std::optional<Timestamp> at = time_of(step, "at");
    return at ? format_rfc3339(*at).substr(11, 8) : std::string("-");
}

/// Error and output over the seconds before the newest step.
std::string balance_plot(const std::vector<Json>& steps, const PlotStyle& style)
{
    const std::optional<Timestamp> newest = time_of(steps.back(), "at");
    Plot plot;
    plot.x_title = "seconds before the newest step";
    plot.y_title = "";
    plot.y_from = -1;
    plot.y_to = 1;
    plot.format_y = [](double value) { return fmt::format("{:+.1f}", value); };
    PlotSeries error{.name = "e, error", .mark = PlotMark::kDot, .points = {}, .is_joined = false};
    PlotSeries output{.name = "u, output", .mark = PlotMark::kCross, .points = {}, .is_joined = false};
    PlotBand band{.name = "band in which nothing is done", .low = {}, .high = {}};
    for (const Json& step : steps) {
        const std::optional<Timestamp> at = time_of(step, "at");
        if (!at || !newest) continue;
        const double x = Seconds(*at - *newest).count();
        if (const auto value = number_of(step, "error")) error.points.push_back({x, *value});
        if (const auto value = number_of(step, "output")) output.points.push_back({x, *value});
        if (const auto half = number_of(step, "band")) {
            band.low.push_back({x, -*half});
            band.high.push_back({x, *half});
        }
    }
    plot.series = {std::move(output), std::move(error)};
    if (!band.low.empty()) plot.bands = {std::move(band)};
    return line_plot(plot, style);
}

std::string state_text(Session& session, const UnitPlace& place, const Json& newest)
{
    const Json& gains = member(newest, "gains");
    const std::string band = number_of(newest, "band") ? "±" + text_of(newest, "band") : "-";
    return render_details(
        {{"Unit", place.center + "/" + place.unit},
         {"Newest", age_of(newest, "at", session.now()) + (is_true(newest, "dry_run") ? ", a dry run" : "")},
         {"Job", text_of(newest, "job_id")},
         {"Transfer P_p", figure(newest, "transfer", false)},
         {"Compute P_d", figure(newest, "load", false)},
         {"Error e", figure(newest, "error", true) + ", set point 0, band " + band},
         {"Output u", figure(newest, "output", true)},
         {"Law", text_of(newest, "law", "-") + ", region " + text_of(newest, "region")},
         {"Gains", "K_p " + figure(gains, "proportional", false) + ", K_i " + figure(gains, "integral", false) +
                       ", K_d " + figure(gains, "derivative", false)},
         {"Wanted", text_of(newest, "wanted_sub_units") + " sub-units"}},
        table_style(session));
}

/// The steps in which something was done, or would have been, and those that could not.
Table deeds_table(const std::vector<Json>& steps)
{
    constexpr std::size_t kMaxRows = 20;
    Table table({{"TIME"},
                 {"P_p", Align::kRight, 2},
                 {"P_d", Align::kRight, 2},
                 {"e", Align::kRight},
                 {"u", Align::kRight},
                 {"ACTIONS", Align::kLeft, 0, true},
                 {"REASON", Align::kLeft, 1, true},
                 {"FAULTS", Align::kLeft, 3, true}});
    std::vector<const Json*> deeds;
    for (const Json& step : steps)
        if (text_of(step, "outcome") == "acted") deeds.push_back(&step);
    const std::size_t first = deeds.size() > kMaxRows ? deeds.size() - kMaxRows : 0;
    for (std::size_t i = first; i < deeds.size(); ++i) {
        const Json& step = *deeds[i];
        table.add_row({clock_of(step), figure(step, "transfer", false), figure(step, "load", false),
                       figure(step, "error", true), figure(step, "output", true),
                       (is_true(step, "dry_run") ? "would: " : "") + actions_text(step), text_of(step, "reason"),
                       joined_texts(step, "faults")});
    }
    return table;
}

void print_history(Session& session, const UnitPlace& place, const std::vector<Json>& steps)
{
    if (steps.empty()) {
        say(session, "No step in that time.");
        return;
    }
    std::ostream& out = *session.console().out;
    const std::string plot = balance_plot(steps, plot_style(session.console()));
    out << state_text(session, place, steps.back()) << "\n" << plot << (plot.empty() ? "" : "\n");
    const Table deeds = deeds_table(steps);
    if (deeds.empty())
        out << "Nothing was to be done in these " << steps.size()
            << " steps. The newest: " << printable(text_of(steps.back(), "reason")) << "\n";
    else
        out << deeds.render(table_style(session));
}

/// New steps after a number, or from now on, until Ctrl-C.
Outcome follow_steps(Session& session, const std::string& path, std::optional<double> after)
{
    std::ostream& out = *session.console().out;
    int failures = 0;
    const auto on_event = [&](const ServerEvent& event) {
        const Result<Json> step = parse_json(event.data);
        if (!step) return true;
        if (const std::optional<double> number = number_of(*step, "number")) after = number;
        out << (session.wants_json() ? step->dump() : balance_line(*step)) << "\n" << std::flush;
        return out.good();
    };
    for (;;) {
        EventParser parser;
        const auto on_data = [&](std::string_view data) {
            failures = 0;
            return parser.feed(data, on_event);
        };
        // From the last one that was seen: none is lost over a reconnect.
        const Query query{{"after", after ? std::to_string(static_cast<std::int64_t>(*after)) : ""}};
        const Result<void> ended = session.stream(path + "/events", query, {{"Accept", "text/event-stream"}}, on_data);
        if (!out.good()) return ExitCode::kOk;
        const bool refused = !ended && ended.error().code != Errc::kUnavailable;
        if (refused || ++failures > kBalanceReconnects)
            return ended ? Error{Errc::kUnavailable, "the server ends the stream again and again"} : ended.error();
        std::this_thread::sleep_for(std::chrono::milliseconds(250) * failures);
    }
}

Error with_hint(const Error& error)
{
    if (error.code != Errc::kNotFound) return error;
    Error with = error;
    with.detail += "; `fathom unit balanced` lists those that there are. Balancing is off until [balance] of the "
                   "center's agent says enabled = true, and begins when a job runs on the unit";
    return with;
}

} // namespace

std::string balance_line(const Json& step)
{
    std::string faults;
    for (const Json& fault : items_of(step, "faults"))
        if (fault.is_string()) faults += " [" + fault.get<std::string>() + "]";
    return printable(clock_of(step) + "  P_p " + figure(step, "transfer", false) + "  P_d " +
                     figure(step, "load", false) + "  e " + figure(step, "error", true) + "  u " +
                     figure(step, "output", true) + "  " + scale_of(step) + "  " + deed_text(step) + faults);
}

Outcome show_balance(Session& session, const BalanceView& view)
{
    const Result<UnitPlace> place = parse_place(view.unit);
    if (!place) return place.error();
    const std::string path = balance_path(*place);
    const Result<std::vector<Json>> steps = read_steps(session, path, view);
    if (!steps) return with_hint(steps.error());
    if (!session.wants_json())
        print_history(session, *place, *steps);
    else if (!view.follows)
        print_json(session, Json{{"items", *steps}});
    if (!view.follows) return ExitCode::kOk;
    std::ostream& out = *session.console().out;
    if (session.wants_json()) {
        for (const Json& step : *steps)
            out << step.dump() << "\n";
    }
    out.flush();
    return follow_steps(session, path, steps->empty() ? std::nullopt : number_of(steps->back(), "number"));
}

} // namespace fathom::cli
