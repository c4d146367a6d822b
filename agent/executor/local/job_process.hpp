#pragma once

#include "agent/executor/local/attempt_folder.hpp"
#include "agent/executor/local/cgroup.hpp"
#include "agent/executor/local/job_init.hpp"

#include <memory>

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

/// A child that starts a job when it is told which: in the job's PID namespace and control groups, with pipes for its
/// output. What takes long is done before anybody waits for it. The job itself is a new process, so that it is not
/// older than its start. Ends when it is destroyed unused.
class WaitingJob {
  public:
    /// Call from a process with one thread only; all its further children are born in the PID namespace.
    /// @error kUnavailable  the detail says at which step and why.
    static Result<std::unique_ptr<WaitingJob>> prepare(const Isolation& isolation, const Cgroup& cgroup);
    ~WaitingJob();
    WaitingJob(const WaitingJob&) = delete;
    WaitingJob& operator=(const WaitingJob&) = delete;

    /// Starts the program of the order in that folder: in its session, on its processors, in its control groups, as
    /// its user, without the means to gain privileges; killed by the kernel should this process die. Call it once.
    /// @error kUnavailable  the program could not be started; the detail says at which step and why.
    Result<JobProcess> start(const SupervisorOrder& order, const AttemptFolder& folder);

  private:
    struct Pipes;
    WaitingJob(std::unique_ptr<Pipes> pipes, std::optional<JobInit> init, int pid);

    std::unique_ptr<Pipes> pipes_;
    std::optional<JobInit> init_; ///< unless it was handed on
    int pid_;                     ///< -1: it has ended
};

} // namespace fathom::agent
