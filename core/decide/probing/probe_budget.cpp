#include "core/decide/probing/probe_budget.hpp"

#include "core/base/clock.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace fathom {
namespace {

double window_s()
{
    return Seconds(kProbeBudgetWindow).count();
}

std::string whole(double seconds)
{
    return std::to_string(std::llround(seconds)) + " s";
}

/// "40 min", "3 h", "12 d", rounded up: nobody is to come too early.
std::string span_text(double seconds)
{
    if (seconds < 7200) return std::to_string(std::max(1LL, std::llround(std::ceil(seconds / 60)))) + " min";
    if (seconds < 2 * 86400) return std::to_string(std::llround(std::ceil(seconds / 3600))) + " h";
    return std::to_string(std::llround(std::ceil(seconds / 86400))) + " d";
}

/// The least share, in steps of 0.0001, with which the probe would have room.
std::string enough_share(const ProbeBudget& budget, double cost_s)
{
    const double needed = budget.used_s + budget.reserved_s + cost_s;
    const double share = needed / (static_cast<double>(budget.unit_count) * window_s());
    return fmt::format("{:.4f}", std::min(1.0, std::ceil(share * 1e4) / 1e4));
}

std::string outlook(const ProbeBudget& budget, double cost_s, std::span<const SpentProbe> spent, Timestamp now)
{
    if (cost_s > limit_s(budget)) return "it never has room";
    const std::optional<Timestamp> room = earliest_room(budget, cost_s, spent, now);
    if (!room) return "it may have room when probes that are queued or run have ended";
    return "it has room in " + span_text(Seconds(*room - now).count());
}

} // namespace

double limit_s(const ProbeBudget& budget)
{
    return budget.share * static_cast<double>(budget.unit_count) * window_s();
}

double left_s(const ProbeBudget& budget)
{
    return std::max(0.0, limit_s(budget) - budget.used_s - budget.reserved_s);
}

std::optional<Timestamp> earliest_room(const ProbeBudget& budget, double cost_s, std::span<const SpentProbe> spent,
                                       Timestamp now)
{
    double missing = cost_s - left_s(budget);
    if (limit_s(budget) < budget.used_s + budget.reserved_s) // the share was lowered: left_s() hides by how much
        missing = cost_s + budget.used_s + budget.reserved_s - limit_s(budget);
    if (missing <= 0) return now;
    if (cost_s + budget.reserved_s > limit_s(budget)) return std::nullopt;
    std::vector<SpentProbe> by_time(spent.begin(), spent.end());
    std::sort(by_time.begin(), by_time.end(), [](const SpentProbe& a, const SpentProbe& b) {
        return a.ended_at != b.ended_at ? a.ended_at < b.ended_at : a.unit_s < b.unit_s;
    });
    for (const SpentProbe& one : by_time) {
        missing -= one.unit_s;
        if (missing <= 0) return std::max(now, one.ended_at + kProbeBudgetWindow);
    }
    // Only rounding keeps something missing once all has left.
    return by_time.empty() ? std::nullopt : std::optional(by_time.back().ended_at + kProbeBudgetWindow);
}

std::string explain_refusal(const std::string& center, const ProbeBudget& budget, double cost_s,
                            std::span<const SpentProbe> spent, Timestamp now)
{
    if (budget.unit_count < 1) return "center " + center + " offers no units, so it has no probe budget";
    const std::string way_out =
        "`fathom center set " + center + " --probe-share " + enough_share(budget, cost_s) + "` gives it room";
    if (budget.share <= 0) return "center " + center + " takes no probes: its probe share is 0; " + way_out;
    return "the probe budget of center " + center + " does not allow it: of " + whole(limit_s(budget)) +
           " in 30 days, " + whole(budget.used_s) + " are used and " + whole(budget.reserved_s) +
           " reserved, and this probe may take " + whole(cost_s) + "; " + outlook(budget, cost_s, spent, now) + "; " +
           way_out;
}

} // namespace fathom
