#include "cli/command_line.hpp"
#include "cli/format_units.hpp"
#include "cli/json_view.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace fathom::cli {
namespace {

struct WindowOptions : ListOptions {
    std::string center;
    std::string unit_type;
    std::string size_bytes;
    std::string latest_start;
};

/// `Mon 14:00` in UTC.
std::string hour_name(std::int64_t hour_of_week)
{
    constexpr std::array kDays{"Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"};
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

Outcome list_windows(Session& session, const WindowOptions& options)
{
    return print_list(session,
                      {.path = "/network-windows",
                       .query = {{"center", options.center},
                                 {"unit_type", options.unit_type},
                                 {"size_bytes", options.size_bytes},
                                 {"latest_start", options.latest_start}},
                       .table = windows_table,
                       .when_empty = "No transfer was timed yet; `fathom probe run --operators network_fetch` does."},
                      options);
}

} // namespace

void add_network_window_commands(CLI::App& app, Invocation& invocation)
{
    CLI::App& noun = add_noun(app, "network-window", "When the network of each unit type is good");
    auto options = std::make_shared<WindowOptions>();
    CLI::App& list = add_verb(noun, "list", "Bandwidth over the week, its changes, and the best start of a transfer",
                              "fathom network-window list --size-bytes 2e9 --latest-start 2026-12-01T18:00:00Z");
    list.add_option("--center", options->center, "Only of this center (name or id)");
    list.add_option("--unit-type", options->unit_type, "Only of this unit type");
    list.add_option("--size-bytes", options->size_bytes, "Size of a planned transfer: shows when to start it");
    list.add_option("--latest-start", options->latest_start, "Until when it may start (default: in 24 hours)");
    add_list_options(list, *options);
    on_chosen(list, invocation, std::move(options), list_windows);
}

} // namespace fathom::cli
