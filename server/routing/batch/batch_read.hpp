#pragma once

#include "core/base/result.hpp"
#include "core/schedule/schedule.hpp"
#include "server/routing/batch/batch_report.hpp"
#include "server/routing/batch/batch_requests.hpp"
#include "server/routing/batch/batch_tools.hpp"
#include "server/routing/batch/planned_batch.hpp"
#include "server/store/transaction.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace fathom::server {

/// A batch as it was read: what is decided by.
struct ReadBatch {
    BatchReport report;               ///< so far; all of it where there is nothing to decide
    std::vector<BatchJob> jobs;       ///< in order of id
    std::vector<std::size_t> decided; ///< which of them are the jobs of the input
    ScheduleInput input;
    std::vector<UndividedJob> undivided; ///< whether they run whole or in parts is decided now, and nothing else
    std::vector<KnownGpuRoom> gpu_rooms; ///< for the ledger of the cycle, where it has none yet that serves

    bool has_ready() const { return !input.jobs.empty() || !undivided.empty(); }
};

/// Claims jobs and reads what they are decided by. Does what comes before a decision: ends what is overdue, has
/// measured what must be first. Blocks; pqxx's exceptions pass through.
/// @param requests  of the batch; for a newer catalog where the decisions need one.
/// @error what the planner said, when it could not work now.
Result<ReadBatch> read_batch(pqxx::work& transaction, const BatchTools& tools, BatchRequests& requests,
                             const std::shared_ptr<const UnitTypeLoads>& loads, CycleCursor cursor, std::int64_t limit);

} // namespace fathom::server
