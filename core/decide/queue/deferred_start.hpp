#pragma once

#include "core/decide/queue/wait_queue.hpp"

#include <span>
#include <vector>

namespace fathom {

/// Which jobs order_starts() makes wait although they fit into what is free, in the order of `jobs`: for a router that
/// plans the jobs that did not start. Jobs that wait because others go first are not among them, nor are gangs.
std::vector<DeferredStart> find_deferred_starts(std::span<const WaitingJobView> jobs,
                                                std::span<const UnitTypeLoad> unit_types,
                                                const OrderSettings& settings);

} // namespace fathom
