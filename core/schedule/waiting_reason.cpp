#include "core/schedule/waiting_reason.hpp"

#include "core/decide/explanation/nearest_alternative.hpp"
#include "core/decide/routing/decision_text.hpp"

#include <cmath>

namespace fathom {
namespace {

constexpr std::size_t kNamedPlaces = 5;
constexpr std::size_t kMaxOfAKind = 3;

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

/// Closed now, perhaps open again one day.
bool is_closed(const Candidate& candidate)
{
    return candidate.removed_by == Filter::kDrain || candidate.removed_by == Filter::kHealth;
}

/// The moment in so many seconds, so coarse that it is the same at each look.
std::string moment_in(double seconds, Timestamp now)
{
    constexpr double kMaxSeconds = 1e9;
    const auto later = std::chrono::duration_cast<Timestamp::duration>(Seconds(std::min(seconds, kMaxSeconds)));
    return moment_text(std::chrono::round<std::chrono::minutes>(now + later), now);
}

/// What its best place waits for, as the end of "waits for …".
WaitingCause wait_of(const Decision& decision, Timestamp now, std::string_view currency)
{
    const Candidate& winner = decision.candidates[*decision.winner];
    if (!decision.quota_obstacle.empty()) return {"quota", "its project's quota: " + decision.quota_obstacle};
    if (const auto& window = winner.plan.window; window && window->is_for_price)
        return {"price", "the cheaper hours at " + moment_text(window->start, now) + " (" +
                             cost_text(window->cost_now, currency) + " now, " + cost_text(window->cost_then, currency) +
                             " then)"};
    if (const auto& window = winner.plan.window)
        return {"window", "the network window at " + moment_text(window->start, now) + " (" +
                              rate_text(window->rate_now_bytes) + " now, " + rate_text(window->rate_then_bytes) +
                              " then)"};
    if (winner.closed_until_s > 0)
        return {"maintenance",
                "the end of the maintenance of " + place_text(winner) + " at " + moment_in(winner.closed_until_s, now)};
    if (!winner.gpu_memory_obstacle.empty())
        return {"gpu_memory", "GPU memory of " + place_text(winner) + ": " + winner.gpu_memory_obstacle};
    if (winner.whole_devices > 0) {
        const bool is_one = winner.whole_devices == 1;
        return {"units", (is_one ? "a whole device" : std::to_string(winner.whole_devices) + " whole devices") +
                             " of " + place_text(winner) + " (" + units_text(winner.unit_count) +
                             "), of which no other job has a part, free in about " + rounded(winner.wait_s)};
    }
    const std::string units = winner.unit_count == 1 ? "a unit" : std::to_string(winner.unit_count) + " units";
    return {"units", units + " of " + place_text(winner) + ", free in about " + rounded(winner.wait_s)};
}

std::string host_reason(const Candidate& winner)
{
    return "waits until the host of " + place_text(winner) + " has ended another probe";
}

/// Why it does not take the free place `left_free`, as the end of the reason that it waits for the winner.
std::string deferred_start_text(const Candidate& winner, const Candidate& left_free)
{
    const double there_s = winner.prediction.run_s;
    const double here_s = left_free.prediction.run_s;
    if (there_s <= 0 || there_s >= here_s)
        return ": " + place_text(left_free) + ", which is free, is left to jobs that it suits better";
    return ": runs " + duration_text(there_s) + " there, " + duration_text(here_s) + " on " + place_text(left_free) +
           ", which is free";
}

} // namespace

std::string waiting_reason_of(const Decision& decision, Timestamp now, std::string_view currency)
{
    if (decision.winner) return "waits for " + wait_of(decision, now, currency).text;
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
        places += (places.empty() ? "" : "; ") + place_text(candidate) + ": " + candidate.reason;
    }
    return (closed > 0 ? "waits for a center to take work again: " : "no unit type can run it now: ") + places;
}

std::string waiting_reason_of(const ScheduledWait& wait, Timestamp now, std::string_view currency)
{
    const Decision& decision = *wait.decision;
    if (!decision.winner) return waiting_reason_of(decision, now, currency);
    const Candidate& winner = decision.candidates[*decision.winner];
    if (wait.waits_for_host) return host_reason(winner);
    return waiting_reason_of(decision, now, currency) +
           (wait.left_free ? deferred_start_text(winner, *wait.left_free) : std::string());
}

namespace {

/// A cause for each candidate that matters, up to a limit.
template <class Matters, class Text>
void add_some(std::vector<WaitingCause>& causes, const Decision& decision, const char* kind, const Matters& matters,
              const Text& text)
{
    std::size_t added = 0;
    for (const Candidate& candidate : decision.candidates) {
        if (!matters(candidate)) continue;
        if (++added > kMaxOfAKind) break;
        causes.push_back({kind, place_text(candidate) + text(candidate)});
    }
}

void add_turn_causes(std::vector<WaitingCause>& causes, const WaitingJobState& job, bool could_start)
{
    if (job.jobs_ahead > 0)
        causes.push_back({"priority_rank", std::to_string(job.jobs_ahead) +
                                               (job.jobs_ahead == 1 ? " job is" : " jobs are") + " ahead of it"});
    // That it could start says nothing against the order, which makes it wait for a better place.
    if (could_start && !job.is_metering && (job.jobs_ahead == 0 || !job.stored_reason.empty()))
        causes.push_back({"priority_rank", job.stored_reason.empty() ? "the router has not looked at it yet"
                                                                     : std::string(job.stored_reason)});
}

/// The places that are free before the winner is.
void add_earlier_places(std::vector<WaitingCause>& causes, const Decision& decision, const Candidate& winner)
{
    const auto is_earlier = [&](const Candidate& one) {
        return &one != &winner && one.feasible && one.plan.start_s < winner.plan.start_s;
    };
    add_some(causes, decision, "elsewhere", is_earlier, [](const Candidate& one) {
        return (one.plan.start_s <= 0 ? " is free now, but " : " is free earlier, but ") + one.reason;
    });
}

} // namespace

std::vector<WaitingCause> list_waiting_causes(const RouteRequest& request, const Decision& decision,
                                              const WaitingJobState& job, std::string_view currency)
{
    std::vector<WaitingCause> causes;
    if (job.is_metering)
        causes.push_back({"metering", "its type has no fresh measurements: probes run first, or until its wait for "
                                      "them is over"});
    const Candidate* winner = decision.winner ? &decision.candidates[*decision.winner] : nullptr;
    const bool waits_for_host = winner != nullptr && job.waits_for_host;
    if (waits_for_host) causes.push_back({"host", host_reason(*winner)});
    if (winner == nullptr)
        causes.push_back({"impossible", nearest_alternative(request, decision, currency)});
    else if (!decision.can_start_now)
        causes.push_back(wait_of(decision, request.transfer.now, currency));
    add_turn_causes(causes, job, winner != nullptr && decision.can_start_now && !waits_for_host);
    if (winner != nullptr && !decision.can_start_now) add_earlier_places(causes, decision, *winner);
    add_some(causes, decision, "closed", is_closed, [](const Candidate& one) { return ": " + one.reason; });
    return causes;
}

} // namespace fathom
