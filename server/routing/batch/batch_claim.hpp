#pragma once

#include "server/routing/batch/batch_report.hpp"
#include "server/routing/batch/known_specs.hpp"
#include "server/routing/batch/routing_store.hpp"
#include "server/store/transaction.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace fathom::server {

/// The jobs of a batch.
struct ClaimedBatch {
    std::vector<WaitingJob> jobs; ///< in order of id; each job once in a cycle
    CycleCursor next;             ///< from where the next batch goes on
    bool is_end{};                ///< no waiting job comes after these
};

/// Claims the next jobs by priority rank; in the first batch of a cycle also the oldest of all, so that none waits
/// unseen; and with a member of a gang the others. Blocks; pqxx's exceptions pass through.
/// @param limit  1: only the next job, to find the one that cannot be routed.
ClaimedBatch claim_batch(pqxx::work& transaction, CycleCursor state, std::int64_t limit, const std::string& replica,
                         KnownSpecs& specs);

} // namespace fathom::server
