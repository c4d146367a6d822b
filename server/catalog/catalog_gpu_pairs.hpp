#pragma once

#include "server/catalog/catalog_snapshot.hpp"
#include "server/store/transaction.hpp"

namespace fathom::server {

/// What jobs kept of their speed beside others on GPUs, learned from the runs that are kept (gpu_sharing_run); as
/// before where no run has come since. Blocks; pqxx's exceptions pass through.
KnownGpuPairs select_gpu_pairs(pqxx::work& transaction, const KnownGpuPairs& previous);

} // namespace fathom::server
