#pragma once

#include "agent/config/user_ids.hpp"
#include "agent/executor/local/attempt_folder.hpp"

#include <chrono>
#include <set>

namespace fathom::agent {

/// Who the jobs of an agent run as; as the agent itself when neither is there.
struct JobUsers {
    std::optional<JobUser> one{}; ///< all of them
    std::optional<UserIds> ids{}; ///< each as another of these
    std::string missing{};        ///< why they do not have ids of their own, though they should
};

/// `run_as`, if it is set; else a user of `run_as_uids` for each job; else what find_job_user() takes.
/// @error kInvalid  as find_job_user().
Result<JobUsers> find_job_users(const std::string& run_as, const std::optional<UserIds>& run_as_uids);

/// The user that jobs shall run as: `wanted`, or fathom, or where there is no such account an id that nobody has
/// (own_user), never `nobody`, as whom other programs run; none when this process is not root, or when `wanted` is
/// root.
/// @error kInvalid  there is no such user; or another user is wanted and this process is not root.
Result<std::optional<JobUser>> find_job_user(const std::string& wanted);

/// A user of this number, whether it has a name in the system or not.
JobUser named_user(unsigned uid);

/// Gives user ids out. Not thread-safe.
class UserIdPool {
  public:
    explicit UserIdPool(UserIds ids) : ids_(ids) {}

    /// One of the ids that is not in `used` and has no process on this host. At random, so that agents that share a
    /// host, and jobs that follow each other, hardly ever get the same. Who has processes is looked up anew when fifty
    /// times as long has passed as looking took, a second at most: where tens of thousands run it takes longer
    /// than all else of a start.
    /// @error kUnavailable  all are in use.
    Result<JobUser> pick(const std::set<unsigned>& used);

  private:
    std::optional<unsigned> find_free(const std::set<unsigned>& used) const;
    void look();

    UserIds ids_;
    std::set<unsigned> running_;                      ///< users with processes
    std::chrono::steady_clock::time_point next_look_; ///< of `running_`
};

} // namespace fathom::agent
