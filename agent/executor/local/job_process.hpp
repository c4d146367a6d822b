#pragma once

#include "agent/executor/local/attempt_folder.hpp"
#include "agent/executor/local/cgroup.hpp"
#include "agent/executor/local/job_init.hpp"

namespace fathom::agent {

/// A program that has been started: its process (leader of its own session and group) and the reading
/// ends of its output.
struct JobProcess {
    int pid{};
    int stdout_fd{-1};
    int stderr_fd{-1};
    std::optional<JobInit> init{}; ///< of its PID namespace, if it has one
};

/// Makes the working folder with the order's files (and its script), owned by the user it runs as, and the
/// folders for its temporary files.
/// @error kUnavailable, kInvalid  the detail says which file and why.
Result<void> prepare_work(const SupervisorOrder& order, const AttemptFolder& folder);

/// Starts the program: in its session, on its processors, in its control groups, as its user, without
/// the means to gain privileges; killed by the kernel should this process die.
/// Call from a process with one thread only.
/// @error kUnavailable  the program could not be started; the detail says at which step and why.
Result<JobProcess> start_job(const SupervisorOrder& order, const AttemptFolder& folder, const Cgroup& cgroup);

} // namespace fathom::agent
