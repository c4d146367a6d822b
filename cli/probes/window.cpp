#include "cli/probes/window.hpp"

#include "cli/client/json_view.hpp"
#include "cli/text/display_text.hpp"
#include "cli/text/format_units.hpp"
#include "cli/text/plot.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace fathom::cli {
namespace {

struct WindowOptions : ListOptions {
    std::string center;
    std::string unit_type;
    std::string size_bytes;
    std::string latest_start;
};

constexpr std::array kDays{"Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"};
constexpr std::size_t kHoursOfDay = 24;
constexpr std::size_t kMaxStepsShown = 10;

/// `Mon 14:00` in UTC.
std::string hour_name(std::int64_t hour_of_week)
{
    return fmt::format("{} {:02}:00", kDays[static_cast<std::size_t>(hour_of_week / 24) % kDays.size()],
                       hour_of_week % 24);
}

/// `850 MB/s (Mon 14:00)`: the hour with the best or the worst median.
std::string extreme_hour(const Json& window, bool wants_best)
{
    const Json* found = nullptr;
    for (const Json& hour : items_of(window, "hours")) {
        const auto rate = [](const Json& one) { return number_of(one, "median_rate_bytes").value_or(0); };
        const bool is_better = found == nullptr || (wants_best ? rate(hour) > rate(*found) : rate(hour) < rate(*found));
        if (is_better) found = &hour;
    }
    if (found == nullptr) return "-";
    return format_bandwidth(number_of(*found, "median_rate_bytes").value_or(0)) + " (" +
           hour_name(static_cast<std::int64_t>(number_of(*found, "hour_of_week").value_or(0))) + ")";
}

std::string last_step(const Json& window, Timestamp now)
{
    const Json& steps = items_of(window, "steps");
    if (steps.empty()) return "-";
    const Json& step = steps.back();
    return format_bandwidth(number_of(step, "before_rate_bytes").value_or(0)) + " to " +
           format_bandwidth(number_of(step, "after_rate_bytes").value_or(0)) + ", " + age_of(step, "at", now);
}

std::string best_start(const Json& window)
{
    const Json& best = member(window, "best_window");
    const std::optional<Timestamp> start = time_of(best, "start");
    if (!start) return "-";
    return format_time(*start) + ", " + duration_of(best, "transfer_s") + " (now " +
           duration_of(best, "transfer_now_s") + ")";
}

Table windows_table(const Json& windows, Timestamp now)
{
    Table table({{"CENTER"},
                 {"UNIT TYPE"},
                 {"NOW", Align::kRight},
                 {"BEST HOUR"},
                 {"WORST HOUR", Align::kLeft, 2},
                 {"LAST CHANGE", Align::kLeft, 3},
                 {"BEST START"},
                 {"SAMPLES", Align::kRight, 4}});
    for (const Json& window : windows) {
        const double rate = number_of(member(window, "now"), "rate_bytes").value_or(0);
        table.add_row({text_of(window, "center"), text_of(window, "unit_type"), rate > 0 ? format_bandwidth(rate) : "-",
                       extreme_hour(window, true), extreme_hour(window, false), last_step(window, now),
                       best_start(window), count_of(window, "sample_count")});
    }
    return table;
}

constexpr const char* kNoWindows = "No transfer was timed yet; `fathom probe run --operators network_fetch` does.";

Query query_of(const WindowOptions& options)
{
    return {{"center", options.center},
            {"unit_type", options.unit_type},
            {"size_bytes", options.size_bytes},
            {"latest_start", options.latest_start}};
}

Outcome list_windows(Session& session, const WindowOptions& options)
{
    return print_list(
        session,
        {.path = "/network-windows", .query = query_of(options), .table = windows_table, .when_empty = kNoWindows},
        options);
}

/// Rates by hour; NaN where there is none.
std::vector<double> rates_by(const Json& items, std::string_view hour_name_of, std::size_t count)
{
    std::vector<double> rates(count, std::numeric_limits<double>::quiet_NaN());
    for (const Json& item : items) {
        const double hour = number_of(item, hour_name_of).value_or(-1);
        if (hour >= 0 && hour < static_cast<double>(count))
            rates[static_cast<std::size_t>(hour)] = number_of(item, "median_rate_bytes").value_or(0);
    }
    return rates;
}

double largest(const std::vector<double>& rates)
{
    double most = 0;
    for (const double rate : rates)
        most = std::isfinite(rate) ? std::max(most, rate) : most;
    return most;
}

/// The first characters of a text in UTF-8.
std::string first_signs(std::string_view text, std::size_t count)
{
    std::size_t end = 0;
    for (std::size_t signs = 0; end < text.size(); ++end) {
        const bool begins_sign = (static_cast<unsigned char>(text[end]) & 0xC0U) != 0x80U;
        if (begins_sign && signs++ == count) break;
    }
    return std::string(text.substr(0, end));
}

/// A strip of the 24 hours for each day of the week; all days on one scale.
std::string week_text(const Json& window, Charset charset)
{
    const std::vector<double> week = rates_by(items_of(window, "hours"), "hour_of_week", kDays.size() * kHoursOfDay);
    std::string text = "       0     6     12    18\n";
    for (std::size_t day = 0; day < kDays.size(); ++day) {
        const auto begin = week.begin() + static_cast<std::ptrdiff_t>(day * kHoursOfDay);
        std::vector<double> hours(begin, begin + kHoursOfDay);
        hours.push_back(largest(week)); // sets the scale, and is cut off again
        text += fmt::format("  {}  {}\n", kDays[day], first_signs(strip(hours, charset), kHoursOfDay));
    }
    return text;
}

/// A bar for each hour of the day; the good ones are marked.
std::string day_text(const Json& window, const PlotStyle& style)
{
    constexpr std::size_t kWidth = 32;
    const std::vector<double> day = rates_by(items_of(window, "hours_of_day"), "hour_of_day", kHoursOfDay);
    const Json& good = member(window, "good_hours");
    const auto first = static_cast<std::size_t>(number_of(good, "first_hour").value_or(0));
    const auto count = static_cast<std::size_t>(number_of(good, "hour_count").value_or(0));
    std::string text;
    for (std::size_t hour = 0; hour < kHoursOfDay; ++hour) {
        if (!std::isfinite(day[hour])) continue;
        const bool is_good = (hour + kHoursOfDay - first) % kHoursOfDay < count;
        text += fmt::format("  {:02}:00  {:>10}  {}{}\n", hour, format_bandwidth(day[hour]),
                            bar(day[hour], largest(day), kWidth, style.charset), is_good ? "  good" : "");
    }
    return text;
}

std::string steps_text(const Json& window, Timestamp now, const TableStyle& style)
{
    const Json& steps = items_of(window, "steps");
    if (steps.empty()) return "No lasting change was seen.\n";
    Table table({{"CHANGED"}, {"FROM", Align::kRight}, {"TO", Align::kRight}, {"AGE", Align::kRight}});
    for (std::size_t i = steps.size() - std::min(steps.size(), kMaxStepsShown); i < steps.size(); ++i) {
        const std::optional<Timestamp> at = time_of(steps[i], "at");
        table.add_row(
            {at ? format_time(*at) : "-", format_bandwidth(number_of(steps[i], "before_rate_bytes").value_or(0)),
             format_bandwidth(number_of(steps[i], "after_rate_bytes").value_or(0)), age_of(steps[i], "at", now)});
    }
    return "Changes\n" + table.render(style);
}

std::string good_hours_text(const Json& window)
{
    const Json& good = member(window, "good_hours");
    if (!good.is_object()) return "No hour of the day is better than the others.";
    const auto first = static_cast<std::int64_t>(number_of(good, "first_hour").value_or(0));
    const auto count = static_cast<std::int64_t>(number_of(good, "hour_count").value_or(0));
    return fmt::format("Best {:02}:00–{:02}:00 UTC.", first, (first + count) % static_cast<std::int64_t>(kHoursOfDay));
}

std::string render_window(Session& session, const Json& window)
{
    const PlotStyle style = plot_style(session.console());
    std::string text = printable(text_of(window, "center") + "/" + text_of(window, "unit_type")) + ": " +
                       count_of(window, "sample_count") + " transfers, the last " +
                       age_of(window, "newest_at", session.now()) + ". " + good_hours_text(window) + "\n";
    if (const double hour_s = number_of(window, "hour_s").value_or(3600); hour_s != 3600)
        text += "Its hours last " + format_duration(hour_s) + ".\n";
    text += "\nHours of the day (UTC), medians\n" + day_text(window, style) + "\nWeek\n" +
            week_text(window, style.charset) + "\n" + steps_text(window, session.now(), table_style(session));
    if (const std::string start = best_start(window); start != "-") text += "\nBest start: " + start + "\n";
    return text;
}

Outcome show_windows(Session& session, const WindowOptions& options)
{
    const Result<Session::List> list = session.list("/network-windows", query_of(options), options.limit);
    if (!list) return list.error();
    return print_answer(session, list->json, [&](const Json& windows) {
        std::string text;
        for (const Json& window : items_of(windows))
            text += (text.empty() ? "" : "\n") + render_window(session, window);
        return text.empty() ? std::string(kNoWindows) + "\n" : text;
    });
}

void add_window_options(CLI::App& verb, WindowOptions& options)
{
    verb.add_option("--center", options.center, "Only of this center (name or id)");
    verb.add_option("--unit-type", options.unit_type, "Only of this unit type (id, or center/unit type)");
    verb.add_option("--size-bytes", options.size_bytes, "Size of a planned transfer: shows when to start it");
    verb.add_option("--latest-start", options.latest_start, "Until when it may start (default: in 24 hours)");
    add_list_options(verb, options);
}

} // namespace

void add_window_commands(CLI::App& app, Invocation& invocation)
{
    CLI::App& noun = add_noun(app, "window", "When the network of each unit type is good");
    add_verb_with(noun, invocation,
                  {"list", "Bandwidth over the week, its changes, and the best start of a transfer",
                   "fathom window list --size-bytes 2e9 --latest-start 2030-12-01T18:00:00Z"},
                  add_window_options, list_windows);

    add_verb_with(noun, invocation,
                  {"show", "Bandwidth drawn by hour of the day and of the week, and when it changed",
                   "fathom window show --center alpha --size-bytes 2e9"},
                  add_window_options, show_windows);
}

} // namespace fathom::cli
