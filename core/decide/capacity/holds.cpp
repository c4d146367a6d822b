#include "core/decide/capacity/holds.hpp"

#include "core/decide/capacity/availability.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace fathom {
namespace {

/// The part of `whole` in [from_s, to_s), where there is any.
void add_part(std::vector<Hold>& parts, const Hold& whole, double from_s, double to_s, std::int64_t unit_count)
{
    if (from_s < to_s && unit_count > 0) parts.push_back({whole.project, from_s, to_s, unit_count});
}

} // namespace

void use_holds(std::vector<Hold>& holds, const Hold& job)
{
    // What the job has and no hold has met yet; it falls into pieces as holds that cover parts of it are met.
    std::vector<Hold> unmet{job};
    std::vector<Hold> left;
    std::vector<Hold> waiting = std::move(holds);
    while (!waiting.empty()) {
        const Hold hold = std::move(waiting.back());
        waiting.pop_back();
        const auto met = std::find_if(unmet.begin(), unmet.end(), [&](const Hold& piece) {
            return hold.project == piece.project && piece.from_s < hold.to_s && hold.from_s < piece.to_s;
        });
        if (met == unmet.end()) {
            left.push_back(hold);
            continue;
        }
        const Hold piece = *met;
        unmet.erase(met);
        const double from_s = std::max(hold.from_s, piece.from_s);
        const double to_s = std::min(hold.to_s, piece.to_s);
        const std::int64_t used = std::min(hold.unit_count, piece.unit_count);
        add_part(left, hold, from_s, to_s, hold.unit_count - used);
        add_part(unmet, piece, from_s, to_s, piece.unit_count - used);
        add_part(unmet, piece, piece.from_s, from_s, piece.unit_count);
        add_part(unmet, piece, to_s, piece.to_s, piece.unit_count);
        // Other pieces of the job may meet what lies before and after.
        add_part(waiting, hold, hold.from_s, from_s, hold.unit_count);
        add_part(waiting, hold, to_s, hold.to_s, hold.unit_count);
    }
    std::sort(left.begin(), left.end(), [](const Hold& a, const Hold& b) {
        return std::tie(a.from_s, a.to_s, a.project, a.unit_count) <
               std::tie(b.from_s, b.to_s, b.project, b.unit_count);
    });
    holds = std::move(left);
}

Availability open_to(std::string_view project, const Availability& availability, std::span<const Hold> holds)
{
    Availability open = availability;
    for (const Hold& hold : holds) {
        if (hold.project != project) open.take(hold.from_s, hold.to_s, hold.unit_count);
    }
    return open;
}

double closed_until(std::span<const Closure> closures, double start_s)
{
    double until_s = 0;
    for (const Closure& closure : closures) {
        if (closure.to_s > 0 && std::abs(start_s - closure.to_s) <= 1) until_s = std::max(until_s, closure.to_s);
    }
    return until_s;
}

} // namespace fathom
