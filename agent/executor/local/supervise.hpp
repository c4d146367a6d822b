#pragma once

#include "agent/executor/local/attempt_folder.hpp"

namespace fathom::agent {

/// The whole life of a supervisor, `fathom-agent supervise DESCRIPTORS ISOLATION`: leaves its parent, prepares what a
/// job needs, reads from standard input the folder of its attempt, makes sure that it is the only one for it, runs the
/// job, writes status.json. When the input ends without a folder, it ends, too.
///
/// It is a process of its own so that an agent can be killed, restarted or replaced without harm to jobs.
/// A job never outlives it unwatched: the kernel kills the job with it.
/// @return the process's exit code.
int supervise(const Isolation& isolation);

} // namespace fathom::agent
