#pragma once

#include "agent/config/kubernetes_user_tables.hpp"
#include "agent/config/slurm_user_tables.hpp"
#include "agent/executor/local/attempt_folder.hpp"

namespace fathom::agent {

/// A `[[slurm_user]]` table with its local user, or what a `[[kubernetes_user]]` table says, as one.
struct MappedUser {
    SlurmUserRule rule;
    JobUser user;
};

/// User ids below this one are the system's own.
inline constexpr unsigned kFirstMappedId = 1000;

/// Whether jobs of the network's users may run as this local user: neither root nor another one of the system's, nor
/// with root's group.
/// @error kInvalid  not so.
Result<void> check_mapped_user(const JobUser& user);

/// The tables with their users, in their order. At start, before other threads use the user database.
/// @error kInvalid  this process is not root; there is no such user; check_mapped_user().
Result<std::vector<MappedUser>> find_mapped_users(const std::vector<SlurmUserRule>& rules);

/// The tables with their users, in their order: ids that need no account here.
/// @error kInvalid  this process is not root, which alone can make files theirs.
Result<std::vector<MappedUser>> map_ids(const std::vector<KubernetesUserRule>& rules);

/// Who a job runs as, and what it is charged to.
struct JobIdentity {
    std::optional<JobUser> user; ///< empty: as the agent does
    std::string user_name;
    std::string account; ///< of Slurm; empty: the user's default
    std::string qos;     ///< likewise
};

/// Without tables a job's is `own`, as a probe's always is; else that of the first table that is for its owner. Pure.
/// @param table  what an administrator adds for somebody, for people
/// @error kInfeasible  none is, and `refuses_unmapped`; the detail is for the attempt's end, whose cause is
/// kNoLocalUser.
Result<JobIdentity> choose_identity(const AttemptOrder& order, const JobIdentity& own,
                                    const std::vector<MappedUser>& mapped, bool refuses_unmapped,
                                    const char* table = "[[slurm_user]]");

/// Where a local user runs jobs of more than one user of the network, or is also `own`, who runs the probes: for
/// people. Pure.
std::vector<std::string> find_shared_users(const std::vector<MappedUser>& mapped, const JobUser& own);

/// A local user as BatchFolder::user() has it.
std::string encode(const JobUser& user);
/// Empty for what encode() has not written.
std::optional<JobUser> decode_job_user(const std::string& text);

} // namespace fathom::agent
