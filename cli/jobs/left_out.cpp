#include "cli/jobs/left_out.hpp"

#include "cli/client/json_view.hpp"
#include "cli/text/format_units.hpp"
#include "core/model/probe_task.hpp"

#include <optional>

namespace fathom::cli {
namespace {

/// "3, 4.2 % of its time"; empty where nothing is left out.
std::string left_out_text(const Json& work, std::string_view name)
{
    const Json& left_out = member(work, name);
    if (!left_out.is_object() || number_of(left_out, "count").value_or(0) <= 0) return {};
    const std::optional<double> share = number_of(left_out, "share");
    return count_of(left_out, "count") + (share ? ", " + format_percent(*share) + " of its time" : "");
}

} // namespace

std::vector<std::pair<std::string, Cell>> left_out_details(const Json& work)
{
    std::vector<std::pair<std::string, Cell>> details;
    const auto add_known = [&](const char* name, std::string_view field, const char* limit, std::size_t most) {
        const std::string text = left_out_text(work, field);
        if (!text.empty()) details.emplace_back(name, text + limit + std::to_string(most) + " operators");
    };
    add_known("Not listed", "unlisted", ": a job has at most ", kMaxNamedOperators);
    add_known("Not probed", "unprobed", ": a probe task measures at most ", kMaxMeasuredOperators);
    return details;
}

} // namespace fathom::cli
