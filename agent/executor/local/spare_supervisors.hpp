#pragma once

#include "agent/executor/local/fork_server.hpp"
#include "agent/executor/local/isolation.hpp"
#include "core/base/open_inside.hpp"

#include <filesystem>
#include <map>
#include <vector>

namespace fathom::agent {

/// Supervisors: those that stand ready, a few of which are started before they are needed, and those that serve an
/// attempt and may come back for another, since to make one ready takes several times as long as to tell it its
/// attempt. All are forked from one process. They end when this process has, or when they have served what they serve.
/// Not thread-safe.
class SpareSupervisors {
  public:
    /// `program` has the subcommand `supervise`. Starts nothing yet.
    SpareSupervisors(std::filesystem::path program, Isolation isolation);

    /// Starts what is missing of the spares. Takes below a millisecond each.
    void refill();
    /// Hands an attempt's folder to a spare, or to a new supervisor where there is none.
    /// @error kUnavailable  no process could be started.
    Result<void> supervise(const std::filesystem::path& folder);
    /// Takes note of children that have ended.
    void reap();

  private:
    Result<OpenFile> start_one();
    void watch(OpenFile busy);
    void take_back();
    void take_back_one(int number);

    ForkServer fork_server_;
    std::vector<OpenFile> spares_; ///< what each one reads its folder from; the last one is used next
    std::map<int, OpenFile> busy_; ///< by their numbers
    OpenFile answers_;             ///< tells which of the busy ones has said something, or has ended
};

} // namespace fathom::agent
