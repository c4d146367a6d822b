#pragma once

#include "core/base/clock.hpp"
#include "core/base/id.hpp"
#include "server/ports/probe_ports.hpp"
#include "server/probing/tasks/probe_task_store.hpp"

#include <span>
#include <string>

namespace fathom::server {

/// The released task of a job type in use.
struct TaskInUse {
    ProbeTaskRecord task;
    double share{}; ///< of the run time of jobs
};

struct CopiesRefreshTerms {
    CenterId center;
    std::string cause;
    Timestamp now{};
    double metering_period_s{}; ///< after which it is done again
    double allowance_s{};       ///< unit-seconds that it may take in all
};

/// Queues copies side by side (M19, throughput) of the tasks of job types in use: what neighbours cost those jobs. On
/// as many units of a type as there are, and only where all of these are free: a run that had to wait for them would
/// keep them from jobs. One that has not begun within minutes is given up. What is worth it is decided by
/// plan_probes(). Blocks; pqxx's exceptions pass through. @error as queue_run(), but for a center whose budget is
/// spent.
Result<void> refresh_copies(pqxx::work& transaction, ProbeJobWriter& writer, std::span<const TaskInUse> tasks,
                            const CopiesRefreshTerms& terms);

} // namespace fathom::server
