#include "core/base/own_user.hpp"

#include "core/base/process_limits.hpp"
#include "core/base/result.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <pwd.h>
#include <random>
#include <set>
#include <signal.h>
#include <stdlib.h>
#include <string>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <system_error>
#include <unistd.h>
#include <utility>
#include <vector>

namespace fathom {
namespace {

// Those of systemd's DynamicUser=, where no distribution makes accounts.
constexpr uid_t kFirstId = 61184;
constexpr uid_t kLastId = 65519;

/// The ids that this process may become: in a container often only some exist.
class MappedIds {
  public:
    explicit MappedIds(const char* map)
    {
        std::ifstream lines(map);
        for (std::uint64_t first = 0, outside = 0, count = 0; lines >> first >> outside >> count;)
            ranges_.emplace_back(first, count);
    }
    bool contains(uid_t id) const
    {
        return std::any_of(ranges_.begin(), ranges_.end(),
                           [id](const auto& range) { return range.first <= id && id < range.first + range.second; });
    }

  private:
    std::vector<std::pair<std::uint64_t, std::uint64_t>> ranges_; ///< first, count
};

std::set<uid_t> ids_with_processes()
{
    std::set<uid_t> ids;
    std::error_code error;
    for (std::filesystem::directory_iterator entry("/proc", error), end; !error && entry != end;
         entry.increment(error)) {
        struct stat facts{};
        if (stat(entry->path().c_str(), &facts) == 0) ids.insert(facts.st_uid);
    }
    return ids;
}

/// Which ids are nobody's, as of its making.
class FreeIds {
  public:
    bool contains(uid_t id) const
    {
        return users_.contains(id) && groups_.contains(id) && !taken_.contains(id) &&
               getpwuid(id) == nullptr; // NOLINT(concurrency-mt-unsafe)
    }

  private:
    std::set<uid_t> taken_ = ids_with_processes();
    MappedIds users_{"/proc/self/uid_map"};
    MappedIds groups_{"/proc/self/gid_map"};
};

} // namespace

/// System calls, not glibc's functions: those would try to change all threads of the parent's time.
bool become(const UnixUser& user)
{
    const gid_t group = user.gid;
    return syscall(SYS_setgroups, 1, &group) == 0 && syscall(SYS_setresgid, group, group, group) == 0 &&
           syscall(SYS_setresuid, user.uid, user.uid, user.uid) == 0;
}

Result<void> give_up_rights(const std::optional<UnixUser>& user)
{
    if (user && !become(*user)) return Error{Errc::kUnavailable, "cannot become the user " + user->name};
    // Libraries look for settings and secrets in a home, and take one that they may not enter for an error.
    if (user) setenv("HOME", "/nonexistent", 1); // NOLINT(concurrency-mt-unsafe)
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    keep_memory_private(); // after the change of user, which may undo it
    return {};
}

Result<void> end_with_parent(pid_t parent)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) return Error{Errc::kUnavailable, "the process that started it has ended"};
    return {};
}

Result<UnixUser> find_own_user(const std::string& name)
{
    if (const passwd* const entry = getpwnam(name.c_str()); entry != nullptr) // NOLINT(concurrency-mt-unsafe)
        return UnixUser{entry->pw_name, entry->pw_uid, entry->pw_gid};
    const FreeIds free;
    // Two that look at the same moment should not find the same.
    const uid_t count = kLastId - kFirstId + 1;
    const uid_t start = std::random_device()() % count;
    for (uid_t i = 0; i < count; ++i) {
        const uid_t id = kFirstId + (start + i) % count;
        if (free.contains(id)) return UnixUser{std::to_string(id), id, id};
    }
    return Error{Errc::kUnavailable, "there is no user for it alone; make one: useradd --system " + name};
}

bool is_free_own_id(uid_t uid)
{
    return kFirstId <= uid && uid <= kLastId && FreeIds().contains(uid);
}

} // namespace fathom
