#pragma once

#include "server/ports/probe_ports.hpp"
#include "server/probing/tasks/probing_store.hpp"

namespace fathom::server {

/// On a slow or busy machine all operators of a unit type take longer than a full benchmark may. One that has reached
/// its limit is divided: two runs measure a half of its operators each, on the same units and for the same order.
/// Blocks; pqxx's exceptions pass through.
/// @param run  locked, of any task.
/// @return whether it was: false for other tasks, and for a single operator.
/// @error as queue_run(), but for a center whose budget is spent: that half is left to the next full benchmark.
Result<bool> split_full_benchmark(pqxx::work& transaction, ProbeJobWriter& writer, const EndingRun& run);

} // namespace fathom::server
