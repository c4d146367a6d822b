#include "cli/jobs/staging_text.hpp"

#include "cli/client/json_view.hpp"
#include "cli/text/format_units.hpp"

namespace fathom::cli {
namespace {

std::string progress_text(const Json& progress)
{
    std::string text = count_of(progress, "complete") + " of " + count_of(progress, "inputs") + " inputs, " +
                       format_bytes(number_of(progress, "bytes").value_or(0));
    if (const std::optional<double> total = number_of(progress, "total_bytes")) text += " of " + format_bytes(*total);
    return text + " in " + duration_of(progress, "elapsed_s");
}

} // namespace

std::string staging_text(const Json& attempt)
{
    const Json& staging = member(attempt, "staging");
    const Json& progress = member(attempt, "staging_progress");
    if (!staging.is_object()) return progress.is_object() ? progress_text(progress) : std::string();
    const auto bytes = [&](const char* name) { return number_of(staging, name).value_or(0); };
    const double cached = bytes("in_cached_bytes");
    return "in " + duration_of(staging, "in_s") + " (" + format_bytes(bytes("in_bytes")) +
           (cached > 0 ? ", " + format_bytes(cached) + " of it kept of earlier jobs" : "") + "), out " +
           duration_of(staging, "out_s") + " (" + format_bytes(bytes("out_bytes")) + ")";
}

} // namespace fathom::cli
