#pragma once

#include "server/catalog/catalog_snapshot.hpp"
#include "server/store/transaction.hpp"

#include <span>
#include <string_view>
#include <vector>

namespace fathom::server {

/// What jobs kept of their speed beside others on GPUs, learned from the runs that are kept (gpu_sharing_run); as
/// before where no run has come since. Blocks; pqxx's exceptions pass through.
KnownGpuPairs select_gpu_pairs(pqxx::work& transaction, const KnownGpuPairs& previous);

/// The most that the newest runs of each kind had of a GPU's memory (gpu_memory_run), where there are two or more; as
/// before where no run has come since.
KnownGpuNeeds select_gpu_needs(pqxx::work& transaction, const KnownGpuNeeds& previous);

/// The same of what memory managers measured (gpu_pair).
KnownTurnPairs select_turn_pairs(pqxx::work& transaction, const KnownTurnPairs& previous);

/// At most so many pairs of that kind: with each other kind what was measured on the unit type, else what was measured
/// elsewhere last. Pure.
std::vector<GpuPair> turn_pairs_for(std::string_view kind, std::string_view unit_type_id,
                                    std::span<const TurnPair> pairs, std::size_t most);

} // namespace fathom::server
