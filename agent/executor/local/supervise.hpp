#pragma once

#include <filesystem>

namespace fathom::agent {

/// The whole life of a supervisor, `fathom-agent supervise DIR`: leaves its parent, makes sure that it is
/// the only one for this attempt, runs the job, writes status.json.
///
/// It is a process of its own so that an agent can be killed, restarted or replaced without harm to jobs.
/// A job never outlives it unwatched: the kernel kills the job with it.
/// @return the process's exit code.
int supervise(const std::filesystem::path& folder);

} // namespace fathom::agent
