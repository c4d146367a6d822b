#pragma once

#include "core/base/id.hpp"

#include <pqxx/pqxx>

#include <cstdint>

/// Rows of gpu_memory_run: what runs had of a GPU's memory, from which later runs of their kind are taken to need as
/// much (G1).
namespace fathom::server {

/// Of a kind the newest so many are kept.
inline constexpr std::int64_t kMaxNeedRunsOfKind = 16;
/// And of all together.
inline constexpr std::int64_t kMaxNeedRuns = 8192;

/// Keeps what the programs of an attempt that ended well had at most of a GPU that its center's memory manager told of:
/// of the GPU where they had most. Nothing of others, and of jobs without a type. The attempt's prediction must
/// have what came. Blocks; pqxx's exceptions pass through.
void keep_gpu_need(pqxx::work& transaction, const AttemptId& attempt);

} // namespace fathom::server
