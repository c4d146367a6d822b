#include "core/decide/queue/deferred_start.hpp"

#include "core/decide/queue/order_jobs.hpp"
#include "core/decide/queue/wait_queue.hpp"

#include <span>
#include <vector>

namespace fathom {

std::vector<DeferredStart> find_deferred_starts(std::span<const WaitingJobView> jobs,
                                                std::span<const UnitTypeLoad> unit_types, const OrderSettings& settings)
{
    return queue_of(jobs, unit_types, settings).deferred_starts(0);
}

} // namespace fathom
