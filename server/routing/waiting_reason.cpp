#include "server/routing/waiting_reason.hpp"

#include "core/decide/route_reasons.hpp"

#include <cmath>

namespace fathom::server {
namespace {

constexpr std::size_t kNamedPlaces = 5;

std::string rounded(double seconds)
{
    const auto steps = [](double value, double step) {
        return std::to_string(static_cast<std::int64_t>(std::ceil(value / step) * step));
    };
    if (seconds < 10) return steps(seconds, 1) + " s";
    if (seconds < 120) return steps(seconds, 10) + " s";
    if (seconds < 7200) return steps(seconds / 60, 1) + " min";
    return steps(std::min(seconds, 1e9) / 3600, 1) + " h";
}

std::string place_of(const Candidate& candidate)
{
    return candidate.center + "/" + candidate.unit_type;
}

/// Closed now, perhaps open again one day.
bool is_closed(const Candidate& candidate)
{
    return candidate.removed_by == Filter::kDrain || candidate.removed_by == Filter::kHealth;
}

} // namespace

std::string waiting_reason_of(const Decision& decision, Timestamp now)
{
    if (decision.winner) {
        const Candidate& winner = decision.candidates[*decision.winner];
        if (const auto& window = winner.plan.window)
            return "waits for the network window at " + moment_text(window->start, now) + " (" +
                   rate_text(window->rate_now_bytes) + " now, " + rate_text(window->rate_then_bytes) + " then)";
        const std::string units = winner.unit_count == 1 ? "a unit" : std::to_string(winner.unit_count) + " units";
        return "waits for " + units + " of " + place_of(winner) + ", free in about " + rounded(winner.wait_s);
    }
    if (decision.candidates.empty()) return "no center offers units now";
    std::string places;
    std::size_t named = 0;
    std::size_t closed = 0;
    for (const Candidate& candidate : decision.candidates)
        closed += is_closed(candidate) ? 1 : 0;
    for (const Candidate& candidate : decision.candidates) {
        // Those that could run it one day say more than those that never can.
        if (closed > 0 && !is_closed(candidate)) continue;
        if (named++ == kNamedPlaces) break;
        places += (places.empty() ? "" : "; ") + place_of(candidate) + ": " + candidate.reason;
    }
    return (closed > 0 ? "waits for a center to take work again: " : "no unit type can run it now: ") + places;
}

} // namespace fathom::server
