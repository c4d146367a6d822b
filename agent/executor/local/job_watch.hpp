#pragma once

#include "agent/executor/local/job_process.hpp"

namespace fathom::agent {

/// Watches a started job to its end: copies its output, keeps its wall-time limit, ends it on request,
/// kills what it leaves behind. Needs SIGCHLD, SIGUSR1, SIGTERM and SIGINT blocked.
AttemptEnd watch_job(const SupervisorOrder& order, const AttemptFolder& folder, const JobProcess& job,
                     const Cgroup& cgroup);

} // namespace fathom::agent
