#include "cli/jobs/own_loops.hpp"

#include "cli/client/json_view.hpp"
#include "cli/text/format_units.hpp"

#include <fmt/format.h>

#include <optional>
#include <string>

namespace fathom::cli {
namespace {

/// How near it is to an operator, as `fathom profile` tells it.
std::string similarity_text(const Json& loop)
{
    constexpr double kMuch = 0.85;
    // Profiles of a fathom-probe of the version before have it as "likeness".
    const std::optional<double> similarity = number_of(loop, loop.contains("similarity") ? "similarity" : "likeness");
    const std::string id = text_of(loop, "operator", "");
    if (id.empty() || !similarity) return "no operator";
    return (*similarity >= kMuch ? "much like " : "somewhat like ") + id + " (" + format_percent(*similarity) + ")";
}

/// "solver+0x1788"
std::string place_text(const Json& loop)
{
    const Json& offset = member(loop, "offset");
    return text_of(loop, "file") +
           (offset.is_number_unsigned() ? fmt::format("+{:#x}", offset.get<std::uint64_t>()) : "");
}

} // namespace

Table loops_table(const Json& loops)
{
    Table table({{"OWN LOOP"}, {"SHARE", Align::kRight}, {"IT IS"}});
    if (!loops.is_array()) return table;
    for (const Json& one : loops) {
        if (!one.is_object()) continue;
        const std::optional<double> share = number_of(one, "share");
        table.add_row({place_text(one), share ? format_percent(*share) : std::string("-"), similarity_text(one)});
    }
    return table;
}

const Json& loops_of_job(const Json& work)
{
    return member(member(member(work, "remainder"), "code"), "loops");
}

} // namespace fathom::cli
