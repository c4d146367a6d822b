#pragma once

#include "core/base/result.hpp"
#include "server/routing/batch_read.hpp"
#include "server/routing/batch_requests.hpp"
#include "server/routing/batch_tools.hpp"
#include "server/routing/cycle_recorder.hpp"
#include "server/routing/planned_batch.hpp"

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
