#include "core/schedule/held_probes.hpp"

#include "core/decide/queue/order_index.hpp"

#include <utility>

namespace fathom {
namespace {

/// So many other probes may be at the host of one that starts. One beyond its starvation limit takes its units while
/// another probe runs, if none is next there: else jobs could have taken them each time that its host is free.
constexpr std::int64_t kAhead = 0;
constexpr std::int64_t kAheadOfOverdue = 1;

} // namespace

bool HeldProbes::waits_for_host(std::size_t job, const WaitingJobView& view) const
{
    const ReadyJob& ready = input_->jobs[job];
    if (!ready.request.is_probe || !ready.gang.empty()) return false;
    const Decision& seen = *kinds_->decisions.at(ready.kind);
    if (!seen.winner) return false;
    const double limit_s = starvation_limit_of(input_->settings, shortest_run_s(view.options));
    const std::int64_t ahead = view.waited_s >= limit_s ? kAheadOfOverdue : kAhead;
    return !hosts_.has_room(seen.candidates[*seen.winner].center_id, ahead);
}

void HeldProbes::hold(CycleJobs& jobs, std::vector<ScheduledWait>& waits)
{
    if (input_->probe_hosts.empty()) return;
    for (std::size_t i = 0; i < jobs.views.size(); ++i) {
        if (jobs.is_done[i] || !waits_for_host(i, jobs.views[i])) continue;
        options_.emplace(i, std::exchange(jobs.views[i].options, {}));
        jobs.is_done[i] = true;
        waits.push_back({.job = i, .decision = kinds_->decisions.at(input_->jobs[i].kind), .waits_for_host = true});
    }
}

void HeldProbes::note_start(std::size_t job, const CenterId& center, CycleJobs& jobs, std::vector<ScheduledWait>& waits)
{
    const ReadyJob& ready = input_->jobs[job];
    if (!ready.request.is_probe || !ready.gang.empty()) return;
    jobs.is_done[job] = true;
    hosts_.start(center);
    hold(jobs, waits);
}

void HeldProbes::give_back(std::vector<WaitingJobView>& views) const
{
    for (const auto& [job, options] : options_)
        views[job].options = options;
}

} // namespace fathom
