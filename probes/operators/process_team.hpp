#pragma once

#include "core/base/result.hpp"
#include "probes/operators/mapping.hpp"

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <sys/types.h>
#include <vector>

namespace fathom::probes {

/// The processors that this process may use: of processes that are one a processor there are never more.
int most_processes();

/// Processes that work together on shared memory, as the ranks of a parallel program on one node do.
///
/// The caller's process is rank 0; the others are forked from it and wait between runs, spinning briefly and
/// then asleep. They end with the team, and with the caller's process however that ends.
/// Not thread-safe: one caller, and always the same thread.
class ProcessTeam {
  public:
    using Work = std::function<void(ProcessTeam& team, std::size_t rank)>;

    /// `work` is what a run does in each process. In the forked ones it may touch shared mappings made
    /// before and nothing else that changes: no allocation, no locks, no output.
    /// @error kUnavailable  the system allows no more processes.
    static Result<std::unique_ptr<ProcessTeam>> start(std::size_t processes, Work work);
    ~ProcessTeam();
    ProcessTeam(const ProcessTeam&) = delete;
    ProcessTeam& operator=(const ProcessTeam&) = delete;

    /// Runs the work once in every process and waits for all. False when a process has died: the team is of no
    /// use any more.
    bool run();

    /// Called by the work of every rank: returns when all ranks have called it.
    void meet();

    std::size_t size() const { return size_; }

  private:
    /// Lies in memory shared by all.
    struct Meeting {
        std::atomic<std::uint32_t> arrived{0};
        std::atomic<std::uint32_t> round{0}; ///< raised by the last to arrive
    };

    ProcessTeam(std::size_t processes, Work work);
    Result<void> fork_members();
    [[noreturn]] void serve(std::size_t rank, pid_t parent);
    void wait_for_round(std::uint32_t old);
    bool all_alive();

    std::size_t size_;
    Work work_;
    Mapping shared_;
    Meeting* meeting_;
    std::vector<pid_t> members_; ///< ranks 1 and up; empty in those themselves
    bool broken_ = false;
};

} // namespace fathom::probes
