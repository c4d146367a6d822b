#include "cli/jobs/job_parts_text.hpp"

#include "cli/client/json_view.hpp"
#include "cli/text/display_text.hpp"
#include "core/model/job.hpp"

#include <cstdint>
#include <optional>

namespace fathom::cli {
namespace {

std::string step_names(const Json& items, const Json& part)
{
    const auto first = static_cast<std::size_t>(number_of(part, "first_step").value_or(0));
    const auto count = static_cast<std::size_t>(number_of(part, "step_count").value_or(0));
    std::string names;
    for (std::size_t i = first; i < first + count && i < items.size(); ++i)
        names += (names.empty() ? "" : ", ") + text_of(items[i], "name");
    return names;
}

/// How far a part is: those that ended well, then the one that the job's state is that of, then those to come.
std::string state_of_part(const Json& job, const Json& part, std::size_t index, std::size_t now)
{
    if (member(part, "attempt_id").is_string()) return "succeeded";
    const std::string state = text_of(job, "state");
    if (index == now) return state;
    const std::optional<JobState> parsed = parse_job_state(state);
    return parsed && is_final(*parsed) ? "not run" : "to come";
}

/// Where the part whose turn it is waits or runs: its attempt is the job's newest, unless that is of an earlier part.
std::string place_now(const Json& job, const Json& parts, std::size_t index)
{
    const Json& attempt = member(job, "attempt");
    const bool is_earlier = index > 0 && text_of(attempt, "id") == text_of(parts[index - 1], "attempt_id");
    if (!attempt.is_object() || is_earlier) return "-";
    return text_of(attempt, "center") + "/" + text_of(attempt, "unit_type");
}

std::string headline(const Json& steps)
{
    const Json& division = member(steps, "division");
    if (text_of(steps, "split") != "allowed") return "whole: its owner has not let divide it (split: allowed)";
    if (!division.is_object()) return "whole or in parts is decided when it is routed";
    const std::string reason = printable(text_of(division, "reason", ""));
    if (items_of(steps, "parts").empty())
        return "whole: " + (reason.empty() ? "no division into its steps is better" : reason);
    const std::string whole_on = text_of(division, "whole_on");
    return "in parts: expected to take " + duration_of(division, "total_s") + ", of which " +
           duration_of(division, "passing_s") + " to hand results on; whole on " + printable(whole_on) +
           " it would take " + duration_of(division, whole_on == "GPU" ? "gpu_s" : "cpu_s");
}

} // namespace

std::string job_parts_text(const Json& job, const TableStyle& style)
{
    const Json& steps = member(job, "steps");
    if (!steps.is_object()) return {};
    std::string text = "\nIts steps run " + headline(steps) + "\n";
    const Json& parts = items_of(steps, "parts");
    const auto now = static_cast<std::size_t>(number_of(steps, "part").value_or(0));
    Table table({{"PART", Align::kRight},
                 {"STEPS", Align::kLeft, 0, true},
                 {"ON"},
                 {"AT"},
                 {"STATE"},
                 {"PLANNED", Align::kRight},
                 {"PREDICTED", Align::kRight},
                 {"RUN", Align::kRight}});
    for (std::size_t i = 0; i < parts.size(); ++i) {
        const Json& part = parts[i];
        std::string place = text_of(part, "place");
        if (i == now && !member(part, "place").is_string()) place = place_now(job, parts, i);
        const std::string state = state_of_part(job, part, i, now);
        table.add_row({std::to_string(i + 1), step_names(items_of(steps, "items"), part),
                       text_of(part, "device") == "gpu" ? "GPU" : "CPU", place, Cell(state, tone_of_state(state)),
                       duration_of(part, "predicted_s"), duration_of(member(part, "placed"), "run_s"),
                       duration_of(part, "run_s")});
    }
    return table.empty() ? text : text + table.render(style);
}

} // namespace fathom::cli
