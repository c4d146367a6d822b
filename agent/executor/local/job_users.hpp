#pragma once

#include "agent/config/user_ids.hpp"
#include "agent/executor/local/attempt_folder.hpp"

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

/// The account of this name; empty: there is none. At start, before other threads use the user database.
std::optional<JobUser> find_account(const std::string& name);

/// The user that jobs shall run as: `wanted`, or fathom, or where there is no such account an id that nobody has
/// (own_user), never `nobody`, as whom other programs run; none when this process is not root, or when `wanted` is
/// root.
/// @error kInvalid  there is no such user; or another user is wanted and this process is not root.
Result<std::optional<JobUser>> find_job_user(const std::string& wanted);

/// A user of this number, whether it has a name in the system or not.
JobUser named_user(unsigned uid);

/// Whether a process that this one can see is of the user.
bool has_processes(unsigned uid);

/// One of the ids that is not in `used` and has no process on this host. At random, so that agents that share a host,
/// and jobs that follow each other, hardly ever get the same.
/// @error kUnavailable  all are in use.
Result<JobUser> pick_job_user(const UserIds& ids, const std::set<unsigned>& used);

} // namespace fathom::agent
