#pragma once

#include "probes/profile/counts_file.hpp"

namespace fathom::profile {

/// The counts that this process adds to. When there is no file (the variable is not set, or the process may not
/// open it) these are counts of the process's own that nobody reads.
Counts& counts();

/// The calling thread's slot; null when there are more threads than slots.
ThreadSlot* thread_slot();

} // namespace fathom::profile
