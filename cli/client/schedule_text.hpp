#pragma once

#include "cli/client/json_view.hpp"
#include "cli/text/format_units.hpp"

#include <string>
#include <utility>
#include <vector>

/// What schedules of any kind say of their times.
namespace fathom::cli {

/// How soon it runs, of a list.
inline Cell next_run_of(const Json& schedule, Timestamp now)
{
    if (!is_true(schedule, "enabled")) return Cell("disabled", Tone::kPending);
    return age_of(schedule, "next_run_at", now);
}

/// A detail for each of its next runs, the first with the title.
inline void add_next_runs(std::vector<std::pair<std::string, Cell>>& details, const Json& schedule, std::string title)
{
    for (const Json& time : items_of(schedule, "next_runs_at")) {
        const Result<Timestamp> at = parse_rfc3339(time.is_string() ? time.get<std::string>() : std::string());
        if (!at) continue;
        details.emplace_back(title, format_time(*at));
        title = "  then";
    }
}

} // namespace fathom::cli
