#pragma once

#include "core/decide/queue/order_jobs.hpp"

#include <cstddef>
#include <span>
#include <vector>

namespace fathom {

/// A job that leaves units free which it could have, since it does better to wait for others.
struct DeferredStart {
    std::size_t job{};       ///< index into the jobs
    std::size_t option{};    ///< what it waits for, index into its options
    double wait_s{};         ///< expected
    double longest_wait_s{}; ///< if it took so long the job would do as well with the best of what is free
};

/// Which jobs order_starts() makes wait although they fit into what is free, in the order of `jobs`: for a router that
/// plans the jobs that did not start. Jobs that wait because their turn has not come are not among them, nor are gangs.
std::vector<DeferredStart> find_deferred_starts(std::span<const WaitingJobView> jobs,
                                                std::span<const UnitTypeLoad> unit_types,
                                                const OrderSettings& settings);

} // namespace fathom
