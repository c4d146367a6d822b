#include "core/schedule/scheduling.hpp"

#include <utility>

/// Probes that wait for another probe at their host.
namespace fathom {
namespace {

/// So many other probes may be at the host of one that starts. One beyond its starvation limit takes its units while
/// another probe runs, if none is next there: else jobs could have taken them each time that its host is free.
constexpr std::int64_t kAhead = 0;
constexpr std::int64_t kAheadOfOverdue = 1;

} // namespace

bool Scheduling::waits_for_host(std::size_t job) const
{
    const ReadyJob& ready = jobs_[job];
    if (!ready.request.is_probe || !ready.gang.empty()) return false;
    const Decision& seen = *look_.kinds.decisions.at(ready.kind);
    if (!seen.winner) return false;
    const double limit_s = starvation_limit_of(input_->settings, shortest_run_s(look_.jobs.views[job].options));
    const std::int64_t ahead = look_.jobs.views[job].waited_s >= limit_s ? kAheadOfOverdue : kAhead;
    return !probe_hosts_.has_room(seen.candidates[*seen.winner].center_id, ahead);
}

void Scheduling::hold_probes()
{
    if (input_->probe_hosts.empty()) return;
    for (std::size_t i = 0; i < jobs_.size(); ++i) {
        if (look_.jobs.is_done[i] || !waits_for_host(i)) continue;
        held_probes_.emplace(i, std::exchange(look_.jobs.views[i].options, {}));
        look_.jobs.is_done[i] = true;
        plan_.waits.push_back({.job = i, .decision = look_.kinds.decisions.at(jobs_[i].kind), .waits_for_host = true});
    }
}

void Scheduling::note_probe_start(std::size_t job, const CenterId& center)
{
    if (!jobs_[job].request.is_probe || !jobs_[job].gang.empty()) return;
    look_.jobs.is_done[job] = true;
    probe_hosts_.start(center);
    hold_probes();
}

} // namespace fathom
