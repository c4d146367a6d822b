#pragma once

#include "agent/executor/local/io_limits.hpp"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace fathom::agent {

/// What a job shall be held to.
struct CgroupLimits {
    std::string cpus;             ///< list as the kernel writes it
    std::int64_t memory_bytes{};  ///< 0: no limit
    std::int64_t processes = 256; ///< and threads
    std::optional<IoLimits> io{}; ///< none: control groups have nothing to do with reads and writes
};

/// Moves this process into a group `agent` below its own one, where version 2 is in use: a group that gives its
/// controllers to others must hold no process itself. Call it once, before any Cgroup.
void enter_leaf_group();

/// The control groups of one job, below the agent's own, in version 1 or 2 hierarchies. Everything here
/// is by best effort: where a controller cannot be used, the job runs without it.
class Cgroup {
  public:
    /// Makes the groups and sets the limits. Forks, to see whether a process can join.
    static Cgroup create(const std::string& name, const CgroupLimits& limits);
    /// Sets other limits. False when a controller that holds the job refuses, as may the memory's while it counts what
    /// is left of an earlier job.
    bool limit(const CgroupLimits& limits);
    /// The groups of that name which exist already.
    static Cgroup find(const std::string& name);
    /// Deletes the groups without processes whose names `is_left` holds for.
    static void remove_left(const std::function<bool(const std::string& name)>& is_left);

    /// Controllers that hold the job: some of cpuset, memory, pids and io, which is blkio in version 1.
    const std::vector<std::string>& controllers() const { return controllers_; }
    /// Writing "0" to each of these files moves the writer into the groups.
    std::vector<std::string> join_files() const;

    /// Whether the kernel has killed something here for want of memory, since the limits were set last.
    bool ran_out_of_memory() const { return kills_for_memory() > kills_before_; }
    /// Kills every process in the groups, and waits at most 5 s. @return whether none is left.
    bool kill_all() const;
    /// Deletes the groups; they must be empty.
    void remove();

  private:
    /// @param own  this process's group, in which those of jobs are made.
    void create_version_2(const std::filesystem::path& own, const std::string& name);
    std::int64_t kills_for_memory() const;

    std::vector<std::filesystem::path> folders_;
    std::vector<std::string> controllers_;
    CgroupLimits limits_; ///< that are set
    std::int64_t kills_before_ = 0;
    bool is_version_2_ = false;
};

} // namespace fathom::agent
