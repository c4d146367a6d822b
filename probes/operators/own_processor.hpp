#pragma once

#include <sched.h>

namespace fathom::probes {

/// The processors that this process may use.
cpu_set_t allowed_processors();

/// Gives this process one of them for itself, spread evenly over them in their order: two processes get the first and
/// the last. Does nothing where there are fewer processors than processes.
/// @param index  of this process among the `count` of this host
void bind_to_own_processor(int index, int count, const cpu_set_t& allowed);

} // namespace fathom::probes
