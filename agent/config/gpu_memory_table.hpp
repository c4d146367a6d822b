#pragma once

#include "core/base/json_reader.hpp"
#include "core/decide/gpu_memory/memory_books.hpp"
#include "core/decide/gpu_memory/turns.hpp"

#include <cstdint>
#include <vector>

namespace fathom::agent {

/// The table `[gpu_memory]`: how jobs share the memory of this host's GPUs (docs/gpu-memory.md).
struct GpuMemoryConfig {
    bool enabled = false;
    std::int64_t gap_bytes = gpu::kDefaultGapBytes; ///< G3: kept free behind each job's persistent memory
    std::int64_t reserved_bytes = 1LL << 30U;       ///< of each GPU, for what the driver takes for itself
    gpu::TurnSettings turns;
};

/// Errors go to the reader's list.
GpuMemoryConfig read_gpu_memory(ObjectReader& reader, std::vector<FieldError>& errors);

} // namespace fathom::agent
