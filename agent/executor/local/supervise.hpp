#pragma once

#include "agent/executor/local/attempt_folder.hpp"
#include "agent/executor/local/system_call_filter.hpp"

namespace fathom::agent {

/// What a supervisor sends over its standard input, a socket, when it can take another attempt.
inline constexpr std::string_view kNextFolder{"\n"};

/// The whole life of a supervisor, which serve_forks() has made: prepares what jobs need, and serves attempts, one
/// after another: reads from standard input the folder of one, makes sure that it is the only one for it, runs the job,
/// writes status.json, clears away what the job has left, and asks for the next (kNextFolder). When the input ends
/// without a folder, it ends, too; also when something of a job stays.
///
/// It is a process of its own so that an agent can be killed, restarted or replaced without harm to jobs.
/// A job never outlives it unwatched: the kernel kills the job with it.
/// @param filter  of the jobs' system calls; null: they have none.
void supervise(const Isolation& isolation, const SystemCallFilter* filter);

} // namespace fathom::agent
