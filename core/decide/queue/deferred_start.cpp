#include "core/decide/queue/deferred_start.hpp"

#include "core/decide/queue/wait_queue.hpp"

namespace fathom {

std::vector<DeferredStart> find_deferred_starts(std::span<const WaitingJobView> jobs,
                                                std::span<const UnitTypeLoad> unit_types, const OrderSettings& settings)
{
    WaitQueue queue = queue_of(jobs, unit_types, settings);
    std::vector<DeferredStart> waits;
    for (const QueuedWait& wait : queue.deferred_starts(0))
        waits.push_back({wait.job, wait.option, wait.wait_s, wait.longest_wait_s});
    return waits;
}

} // namespace fathom
