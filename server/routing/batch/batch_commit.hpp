#pragma once

#include "core/base/result.hpp"
#include "server/routing/batch/batch_tools.hpp"
#include "server/routing/batch/planned_batch.hpp"
#include "server/store/transaction.hpp"

namespace fathom::server {

/// Writes what still holds of the plan: jobs that wait as they did, units that are free, quotas that are left. May be
/// run again in another transaction. Blocks; pqxx's exceptions pass through. @return what the batch did
Result<BatchReport> commit_batch(pqxx::work& transaction, const PlannedBatch& planned, const BatchTools& tools);

} // namespace fathom::server
