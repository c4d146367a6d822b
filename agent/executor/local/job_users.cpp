#include "agent/executor/local/job_users.hpp"

#include "core/base/own_user.hpp"

#include <cerrno>
#include <fstream>
#include <pwd.h>
#include <random>
#include <sys/resource.h>
#include <unistd.h>

namespace fathom::agent {
namespace {

/// Whether this process may become them: in a container often only some ids exist.
bool are_mapped(const UserIds& ids, const char* map)
{
    std::ifstream lines(map);
    for (std::uint64_t first = 0, outside = 0, count = 0; lines >> first >> outside >> count;) {
        if (first <= ids.first && ids.last < first + count) return true;
    }
    return false;
}

} // namespace

Result<JobUsers> find_job_users(const std::string& run_as, const std::optional<UserIds>& run_as_uids)
{
    JobUsers users;
    if (run_as.empty() && run_as_uids && ::getuid() == 0) {
        if (are_mapped(*run_as_uids, "/proc/self/uid_map") && are_mapped(*run_as_uids, "/proc/self/gid_map")) {
            users.ids = run_as_uids;
            return users;
        }
        users.missing = "the user ids " + std::to_string(run_as_uids->first) + "-" + std::to_string(run_as_uids->last) +
                        " do not exist in this container";
    }
    Result<std::optional<JobUser>> one = find_job_user(run_as);
    if (!one) return one.error();
    users.one = std::move(*one);
    return users;
}

std::optional<JobUser> find_account(const std::string& name)
{
    const passwd* const entry = ::getpwnam(name.c_str()); // NOLINT(concurrency-mt-unsafe): one thread
    if (entry == nullptr) return std::nullopt;
    return JobUser{name, entry->pw_uid, entry->pw_gid};
}

Result<std::optional<JobUser>> find_job_user(const std::string& wanted)
{
    if (::getuid() != 0) {
        const passwd* self = ::getpwuid(::getuid());
        if (wanted.empty() || (self != nullptr && wanted == self->pw_name)) return std::optional<JobUser>();
        return Error{Errc::kInvalid, "run_as needs an agent that is started as root"};
    }
    if (wanted == "root") return std::optional<JobUser>();
    const std::string name = wanted.empty() ? "fathom" : wanted;
    if (std::optional<JobUser> account = find_account(name)) return account;
    if (!wanted.empty()) return Error{Errc::kInvalid, "run_as: there is no user \"" + wanted + "\""};
    const Result<UnixUser> own = find_own_user(name);
    if (!own) return Error{Errc::kInvalid, "jobs have no user of their own: set run_as; " + own.error().detail};
    return std::optional(named_user(own->uid));
}

JobUser named_user(unsigned uid)
{
    return {"fathom-" + std::to_string(uid), uid, uid};
}

bool has_processes(unsigned uid)
{
    // The kernel knows at once of a user that has none; /proc would have to be read whole.
    errno = 0;
    ::getpriority(PRIO_USER, uid);
    return errno != ESRCH;
}

Result<JobUser> pick_job_user(const UserIds& ids, const std::set<unsigned>& used)
{
    const std::uint64_t count = std::uint64_t{ids.last} - ids.first + 1;
    std::random_device random;
    const std::uint64_t start = std::uniform_int_distribution<std::uint64_t>(0, count - 1)(random);
    for (std::uint64_t i = 0; i < count; ++i) {
        const auto id = static_cast<unsigned>(ids.first + (start + i) % count);
        if (!used.contains(id) && !has_processes(id)) return named_user(id);
    }
    return Error{Errc::kUnavailable, "all user ids of run_as_uids are in use: widen it"};
}

} // namespace fathom::agent
