#pragma once

#include "core/base/metrics.hpp"

namespace pqxx {
class transaction_base;
}

namespace fathom::server {

/// Sets the gauges of GPUs whose memory jobs share: by center, and of each of the first 1000 GPUs that are there.
/// Whoever may read metrics may not know of each job: none is named. Blocks; pqxx's exceptions pass through.
void set_shared_gpu_gauges(pqxx::transaction_base& transaction, Metrics& metrics);

} // namespace fathom::server
