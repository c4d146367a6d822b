#include "core/decide/explanation/nearest_alternative.hpp"

#include "core/base/clock.hpp"
#include "core/decide/capacity/availability.hpp"
#include "core/decide/capacity/plan_start.hpp"
#include "core/decide/routing/decision_text.hpp"
#include "core/decide/routing/filters.hpp"
#include "core/decide/routing/route.hpp"

#include <cmath>
#include <string>
#include <string_view>
#include <tuple>

namespace fathom {
namespace {

bool is_before(const Candidate& a, const Candidate& b, double a_amount, double b_amount)
{
    return std::tie(a_amount, a.unit_type_id.value) < std::tie(b_amount, b.unit_type_id.value);
}

/// What the job's last two filters leave of the candidates that passed all others.
struct Nearest {
    const Candidate* earliest = nullptr;           ///< of all that only deadline or budget removed
    const Candidate* earliest_in_budget = nullptr; ///< of those that cost little enough
    const Candidate* cheapest = nullptr;
    const Candidate* cheapest_in_time = nullptr;
    const Candidate* furthest = nullptr; ///< of the others, the one that passed most filters
};

void keep_earlier(const Candidate*& best, const Candidate& candidate)
{
    if (best == nullptr || is_before(candidate, *best, candidate.completion_s, best->completion_s)) best = &candidate;
}

void keep_cheaper(const Candidate*& best, const Candidate& candidate)
{
    if (best == nullptr || is_before(candidate, *best, candidate.cost, best->cost)) best = &candidate;
}

Nearest find_nearest(const RouteRequest& request, const Decision& decision)
{
    const double left_s = request.transfer.deadline ? Seconds(*request.transfer.deadline - request.transfer.now).count()
                                                    : Availability::kForEver;
    const double budget = budget_limit(request.budget);
    Nearest found;
    for (const Candidate& candidate : decision.candidates) {
        if (!candidate.removed_by || candidate.removed_by == Filter::kSpeedup) continue;
        if (*candidate.removed_by < Filter::kDeadline) {
            if (found.furthest == nullptr || *candidate.removed_by > *found.furthest->removed_by)
                found.furthest = &candidate;
            continue;
        }
        if (!std::isfinite(candidate.completion_s)) continue;
        keep_earlier(found.earliest, candidate);
        keep_cheaper(found.cheapest, candidate);
        if (candidate.cost <= budget) keep_earlier(found.earliest_in_budget, candidate);
        if (candidate.completion_s <= left_s) keep_cheaper(found.cheapest_in_time, candidate);
    }
    return found;
}

std::string earliest_text(const RouteRequest& request, const Candidate& candidate)
{
    const Timestamp now = request.transfer.now;
    return moment_text(kept_deadline(now, candidate.completion_s), now) + " at " + place_text(candidate);
}

/// A budget that it would keep.
std::string needed_text(const Candidate& candidate, std::string_view currency)
{
    return cost_text(kept_budget(candidate.cost), currency);
}

} // namespace

std::string nearest_alternative(const RouteRequest& request, const Decision& decision, std::string_view currency)
{
    if (decision.winner) return {};
    if (decision.candidates.empty()) return "no center offers units";
    const Nearest nearest = find_nearest(request, decision);
    const Timestamp now = request.transfer.now;
    const std::string deadline =
        request.transfer.deadline ? "before " + moment_text(*request.transfer.deadline, now) : std::string();
    const std::string budget = request.budget ? "for " + cost_text(*request.budget, currency) : std::string();
    if (nearest.earliest == nullptr) {
        if (nearest.furthest == nullptr) return "no unit type can run it";
        return "no unit type can run it; the nearest is " + place_text(*nearest.furthest) + ": " +
               nearest.furthest->reason;
    }
    if (nearest.cheapest_in_time != nullptr && nearest.earliest_in_budget != nullptr)
        return "no center can finish " + deadline + " " + budget + "; the cheapest in time costs " +
               needed_text(*nearest.cheapest_in_time, currency) + " at " + place_text(*nearest.cheapest_in_time) +
               ", the earliest within the budget is " + earliest_text(request, *nearest.earliest_in_budget);
    if (nearest.cheapest_in_time != nullptr)
        return "no center can run it " + budget + "; the cheapest is " +
               needed_text(*nearest.cheapest_in_time, currency) + " at " + place_text(*nearest.cheapest_in_time);
    if (nearest.earliest_in_budget != nullptr)
        return "no center can finish " + deadline + "; the earliest is " +
               earliest_text(request, *nearest.earliest_in_budget);
    return "no center can finish " + deadline + ", nor " + budget + "; the earliest is " +
           earliest_text(request, *nearest.earliest) + " for " + needed_text(*nearest.earliest, currency) +
           ", the cheapest costs " + needed_text(*nearest.cheapest, currency) + " at " + place_text(*nearest.cheapest);
}

} // namespace fathom
