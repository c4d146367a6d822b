#pragma once

#include "agent/executor/local/isolation.hpp"

#include <deque>
#include <filesystem>
#include <vector>

namespace fathom::agent {

/// Starts supervisors, a few before they are needed: to start one takes several times as long as to tell it its
/// attempt. A spare ends by itself when this process does. Not thread-safe.
class SpareSupervisors {
  public:
    /// `program` has the subcommand `supervise`. Starts nothing yet.
    SpareSupervisors(std::filesystem::path program, Isolation isolation);
    ~SpareSupervisors();
    SpareSupervisors(const SpareSupervisors&) = delete;
    SpareSupervisors& operator=(const SpareSupervisors&) = delete;

    /// Starts what is missing of the spares. Takes below a millisecond each.
    void refill();
    /// Hands an attempt's folder to a spare, or to a new supervisor where there is none.
    /// @error kUnavailable  no process could be started.
    Result<void> supervise(const std::filesystem::path& folder);
    /// Takes note of children that have ended.
    void reap();

  private:
    Result<int> start_one();

    std::filesystem::path program_;
    Isolation isolation_;
    std::deque<int> spares_;   ///< what each one reads its folder from; the oldest first
    std::vector<int> leaving_; ///< children that end as soon as their supervisor has left them
};

} // namespace fathom::agent
