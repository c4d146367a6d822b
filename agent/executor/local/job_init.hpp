#pragma once

#include "core/base/result.hpp"

namespace fathom::agent {

/// The first process of a job's PID namespace: it reaps orphans, and with it everything in there ends at once.
struct JobInit {
    int pid{};
    int lifeline{-1}; ///< closing it, or the death of who holds it, ends the namespace
};

/// Makes a PID namespace: all further children of this process, which must have one thread, are born in it.
/// @error kUnavailable  the system does not allow it.
Result<JobInit> start_init();

/// Ends everything in the namespace and waits, at most 10 s, until that is done; the processor time of what was
/// killed then counts as that of this process's children. May be called again.
void end_init(const JobInit& init);

} // namespace fathom::agent
