#pragma once

#include "agent/executor/local/attempt_folder.hpp"
#include "agent/executor/local/cgroup.hpp"
#include "agent/executor/local/job_init.hpp"
#include "agent/executor/local/system_call_filter.hpp"
#include "agent/executor/local/waiting_starter.hpp"

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
/// @param cached_inputs  numbers of files that start_job() leaves open, by SHA-256
/// @error kUnavailable, kInvalid  the detail says which file and why.
Result<void> prepare_work(const SupervisorOrder& order, const AttemptFolder& folder,
                          const std::map<std::string, int>& cached_inputs = {});

/// What the children of a supervisor stand on until they run their programs; for one job after another.
struct JobChildren {
    ChildStack starter;
    ChildStack init;
    ChildStack job;
    WaitingStarter waiting{starter}; ///< of the job's control groups; where it has no child, one is made for the job
};

/// Starts the program of the order in that folder: in its session, on its processors, in these control groups, as its
/// user, without the means to gain privileges, where they work in PID, mount and IPC namespaces of its own; killed by
/// the kernel should this process, which must have one thread, die. Returns when the program runs.
/// @param filter  of its system calls; null: none.
/// @param cached_inputs  as above
/// @error kInvalid      the job's own program cannot be executed. Nothing is left of it, here and below.
/// @error kUnavailable  it could not be started for another reason. The details say at which step and why.
Result<JobProcess> start_job(const SupervisorOrder& order, const AttemptFolder& folder, const Cgroup& cgroup,
                             const SystemCallFilter* filter, JobChildren& children,
                             const std::map<std::string, int>& cached_inputs);

} // namespace fathom::agent
