#include "core/schedule/plan_ranks.hpp"

#include "core/base/portable_math.hpp"
#include "core/decide/queue/order_index.hpp"

#include <algorithm>
#include <cmath>
#include <string>

namespace fathom {
namespace {

/// Ranks move in steps, so that they need not be written at each look.
constexpr double kRanksPerDoubling = 4;
constexpr double kMiddleRank = 1000;
constexpr double kFirstRank = 1;

std::string rank_text(std::size_t position, std::size_t count, const OrderSettings& settings)
{
    return "no. " + std::to_string(position) + " of " + std::to_string(count) +
           " waiting jobs that were decided together, by " + std::string(to_string(settings.rule));
}

} // namespace

void tell_ranks(const OrderSettings& settings, std::span<const WaitingJobView> views, PlanDraft& draft)
{
    const bool is_scarce = draft.planned > 0 || std::any_of(draft.ordered.begin(), draft.ordered.end(),
                                                            [](const OrderedPlace& one) { return !one.is_own_choice; });
    if (!is_scarce) return; // each starts where it would go alone
    const auto waiting =
        std::count_if(views.begin(), views.end(), [](const WaitingJobView& view) { return !view.options.empty(); });
    for (const OrderedPlace& one : draft.ordered)
        draft.plan.starts[one.start].decision.rank_text =
            rank_text(one.start + 1, static_cast<std::size_t>(waiting), settings);
}

void set_ranks(const CycleTools& tools, std::span<const WaitingJobView> views, std::vector<ScheduledWait>& waits)
{
    const OrderIndices indices = order_indices(views, tools.places->loads(), tools.input->settings);
    for (ScheduledWait& wait : waits) {
        const OrderIndex& own = indices.jobs[wait.job];
        const double best = own.least();
        if (own.is_overdue)
            wait.priority_rank = kFirstRank;
        else if (!std::isfinite(best) || !(best > 0))
            wait.priority_rank = kLastRank;
        else
            wait.priority_rank =
                std::clamp(kMiddleRank + std::round(kRanksPerDoubling * portable::log2(best)) / kRanksPerDoubling,
                           kFirstRank + 1, kLastRank - 1);
    }
    std::sort(waits.begin(), waits.end(), [](const ScheduledWait& a, const ScheduledWait& b) { return a.job < b.job; });
}

} // namespace fathom
