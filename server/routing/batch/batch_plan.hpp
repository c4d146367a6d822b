#pragma once

#include "core/base/result.hpp"
#include "server/routing/batch/batch_read.hpp"
#include "server/routing/batch/batch_requests.hpp"
#include "server/routing/batch/batch_tools.hpp"
#include "server/routing/batch/planned_batch.hpp"
#include "server/routing/cycles/cycle_recorder.hpp"

#include <optional>

namespace fathom::server {

/// A batch that was decided on.
struct DecidedBatch {
    PlannedBatch planned;
    std::optional<DecidedCycle> cycle; ///< what it was decided by, for the recorder; empty without one
};

/// Decides on a batch: only computes. @error kInvalid  a job's operators are no longer known.
Result<DecidedBatch> plan_batch(ReadBatch batch, const BatchTools& tools, BatchRequests& requests);

} // namespace fathom::server
