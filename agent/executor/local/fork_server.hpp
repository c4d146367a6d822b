#pragma once

#include "agent/executor/local/isolation.hpp"
#include "core/base/open_file.hpp"
#include "core/base/result.hpp"

#include <filesystem>
#include <vector>

namespace fathom::agent {

/// The process that supervisors are forked from, `PROGRAM supervise DESCRIPTORS ISOLATION`: they share what the dynamic
/// linker and the program's start have written, more than half a MiB each, and none of them waits for either. It is
/// started when it is needed, and ends when this process has. Not thread-safe.
class ForkServer {
  public:
    /// `program` has the subcommand `supervise`. Starts nothing yet.
    ForkServer(std::filesystem::path program, Isolation isolation);
    ~ForkServer();
    ForkServer(const ForkServer&) = delete;
    ForkServer& operator=(const ForkServer&) = delete;

    /// Asks for a supervisor whose standard input is `input`, which stays open here. Where none can be forked, `input`
    /// has no reader then. Takes below a millisecond.
    /// @error kUnavailable  no fork server could be started.
    Result<void> fork_supervisor(int input);
    /// Takes note of fork servers that have ended.
    void reap();

  private:
    Result<void> start();
    void stop();

    std::filesystem::path program_;
    Isolation isolation_;
    OpenFile requests_;      ///< what it reads them from; none is open: none was started
    std::vector<int> ended_; ///< process numbers of those that end, or have
    int pid_ = -1;
};

/// The whole life of a fork server: reads requests from standard input until the agent has ended, and forks a
/// supervisor for each, in a session of its own, as a child of init.
/// @return true in each supervisor, with its input as standard input and no other descriptors above standard error;
/// false once in the fork server, which is to end then.
bool serve_forks();

} // namespace fathom::agent
