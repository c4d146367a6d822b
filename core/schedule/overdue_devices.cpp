#include "core/schedule/overdue_devices.hpp"

#include "core/decide/queue/order_index.hpp"
#include "core/schedule/decided_places.hpp"

#include <utility>

namespace fathom {

void keep_for_overdue(const CycleTools& tools, CycleJobs& jobs, PlanDraft& draft)
{
    std::vector<std::size_t> exclusive;
    for (std::size_t i = 0; i < tools.jobs().size(); ++i) {
        const ReadyJob& job = tools.job(i);
        if (!jobs.is_done[i] && job.request.units.is_exclusive() && job.gang.empty()) exclusive.push_back(i);
    }
    if (exclusive.empty()) return;
    const OrderIndices indices = order_indices(jobs.views, tools.places->loads(), tools.input->settings);
    for (const std::size_t job : exclusive) {
        if (!indices.jobs[job].is_overdue) continue;
        std::shared_ptr<const Decision> decision = tools.ledger->decide(tools.job(job));
        const bool waits = wants_units(*decision) && !decision->can_start_now;
        if (!waits || decision->candidates[*decision->winner].whole_devices == 0) continue;
        jobs.is_done[job] = true;
        wait_for_winner(tools, {.job = job, .decision = std::move(decision)}, draft);
    }
}

} // namespace fathom
