#include "agent/executor/batch/user_map.hpp"

#include "agent/executor/local/job_users.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <sstream>
#include <unistd.h>

namespace fathom::agent {
namespace {

/// As AttemptEnd::detail.
std::string describe_unmapped(const AttemptOwner& owner, const char* table)
{
    const std::string detail = "no local user: ";
    if (owner.submitter.empty())
        return detail + "this center has one for each user, and the metascheduler does not say whose job it is; it may "
                        "be older than this agent";
    const std::string user = owner.account.empty() ? owner.submitter : owner.account + " (" + owner.submitter + ")";
    return detail + "this center has none for " + user + " in the project " + owner.project +
           "; its administrator can add one (" + table + ")";
}

} // namespace

Result<void> check_mapped_user(const JobUser& user)
{
    if (user.uid >= kFirstMappedId && user.gid != 0) return {};
    return Error{Errc::kInvalid, "slurm_user: " + user.name + " (user id " + std::to_string(user.uid) + ", group id " +
                                     std::to_string(user.gid) + ") is a user of the system's: jobs run as users from " +
                                     std::to_string(kFirstMappedId) + " on, without root's group"};
}

Result<std::vector<MappedUser>> find_mapped_users(const std::vector<SlurmUserRule>& rules)
{
    std::vector<MappedUser> mapped;
    if (rules.empty()) return mapped;
    if (::getuid() != 0) return Error{Errc::kInvalid, "[[slurm_user]] needs an agent that is started as root"};
    for (const SlurmUserRule& rule : rules) {
        std::optional<JobUser> user = find_account(rule.local_user);
        if (!user) return Error{Errc::kInvalid, "slurm_user: there is no local user \"" + rule.local_user + "\""};
        if (const Result<void> checked = check_mapped_user(*user); !checked) return checked.error();
        mapped.push_back({rule, std::move(*user)});
    }
    return mapped;
}

Result<std::vector<MappedUser>> map_ids(const std::vector<KubernetesUserRule>& rules)
{
    std::vector<MappedUser> mapped;
    if (!rules.empty() && ::getuid() != 0)
        return Error{Errc::kInvalid,
                     "[[kubernetes_user]] needs an agent that is started as root: the files of jobs must "
                     "be made their users'"};
    for (const KubernetesUserRule& rule : rules)
        mapped.push_back(
            {{.users = rule.users, .project = rule.project, .local_user = rule.name, .account = {}, .qos = {}},
             JobUser{rule.name, rule.uid, rule.gid}});
    return mapped;
}

Result<JobIdentity> choose_identity(const AttemptOrder& order, const JobIdentity& own,
                                    const std::vector<MappedUser>& mapped, bool refuses_unmapped, const char* table)
{
    if (mapped.empty() || order.label == "probe") return own;
    const auto found = std::find_if(mapped.begin(), mapped.end(),
                                    [&](const MappedUser& one) { return is_for(one.rule, order.owner); });
    if (found == mapped.end()) {
        if (refuses_unmapped) return Error{Errc::kInfeasible, describe_unmapped(order.owner, table)};
        return own;
    }
    JobIdentity identity = own;
    identity.user = found->user;
    identity.user_name = found->user.name;
    if (!found->rule.account.empty()) identity.account = found->rule.account;
    if (!found->rule.qos.empty()) identity.qos = found->rule.qos;
    return identity;
}

std::vector<std::string> find_shared_users(const std::vector<MappedUser>& mapped, const JobUser& own)
{
    std::map<unsigned, std::set<std::set<std::string>>> persons; // of each local user
    std::set<std::string> shared;
    for (const MappedUser& one : mapped) {
        const std::set<std::string> person(one.rule.users.begin(), one.rule.users.end());
        persons[one.user.uid].insert(person);
        if (person.empty() || persons[one.user.uid].size() > 1)
            shared.insert("jobs of several users run as " + one.user.name);
        if (one.user.uid == own.uid) shared.insert("jobs run as " + own.name + ", as the probes do");
    }
    return {shared.begin(), shared.end()};
}

std::string encode(const JobUser& user)
{
    return std::to_string(user.uid) + " " + std::to_string(user.gid) + " " + user.name;
}

std::optional<JobUser> decode_job_user(const std::string& text)
{
    std::istringstream words(text);
    JobUser user;
    if (!(words >> user.uid >> user.gid >> user.name)) return std::nullopt;
    return user;
}

} // namespace fathom::agent
