#include "cli/client/calendar_text.hpp"

#include "cli/client/json_view.hpp"
#include "cli/text/format_units.hpp"

#include <chrono>

namespace fathom::cli {

std::string moment_of(const Json& json, std::string_view name)
{
    const std::optional<Timestamp> time = time_of(json, name);
    return time ? format_time(*time) : std::string("-");
}

Cell calendar_state_of(const Json& entry)
{
    const std::string state = text_of(entry, "state");
    if (state == "active") return Cell(state, Tone::kGood);
    if (state == "planned") return Cell(state, Tone::kPending);
    return Cell(state);
}

std::string length_of(const Json& entry)
{
    const std::optional<Timestamp> start = time_of(entry, "starts_at");
    const std::optional<Timestamp> end = time_of(entry, "ends_at");
    if (!start || !end) return "-";
    return format_duration(std::chrono::duration<double>(*end - *start).count());
}

} // namespace fathom::cli
