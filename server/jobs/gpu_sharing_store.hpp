#pragma once

#include "core/base/id.hpp"
#include "server/store/transaction.hpp"

namespace fathom::server {

struct CatalogSnapshot;

/// Of runs of a kind beside another at one place, and of those alone, the newest so many are kept.
inline constexpr std::int64_t kMaxKeptOfPair = 16;
/// And of all together.
inline constexpr std::int64_t kMaxKeptSharingRuns = 8192;

/// Keeps what an attempt that has just ended well tells of jobs that share GPUs (core/decide/corun/shared_runs.hpp):
/// one whose programs the memory manager of its node has told of, alone on its GPUs or beside jobs of one kind, one at
/// a time. What programs say of their jobs is their word: it counts only where each named job ran at the same center at
/// the time. Of attempts that tell nothing it keeps nothing. Blocks; pqxx's exceptions pass through.
void keep_gpu_sharing(pqxx::work& transaction, const AttemptId& attempt, const CatalogSnapshot& catalog);

} // namespace fathom::server
