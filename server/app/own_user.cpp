#include "server/app/own_user.hpp"

#include <cstdint>
#include <fstream>
#include <pwd.h>
#include <random>
#include <set>
#include <sys/stat.h>

namespace fathom::server {
namespace {

// Those of systemd's DynamicUser=, where no distribution makes accounts.
constexpr uid_t kFirstId = 61184;
constexpr uid_t kLastId = 65519;

/// Whether this process may become it: in a container often only some ids exist.
bool is_mapped(uid_t id, const char* map)
{
    std::ifstream lines(map);
    for (std::uint64_t first = 0, outside = 0, count = 0; lines >> first >> outside >> count;) {
        if (first <= id && id < first + count) return true;
    }
    return false;
}

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

} // namespace

Result<UnixUser> find_own_user(const std::string& name)
{
    if (const passwd* const entry = getpwnam(name.c_str()); entry != nullptr) // NOLINT(concurrency-mt-unsafe)
        return UnixUser{entry->pw_name, entry->pw_uid, entry->pw_gid};
    const std::set<uid_t> taken = ids_with_processes();
    // Two that look at the same moment should not find the same.
    const uid_t count = kLastId - kFirstId + 1;
    const uid_t start = std::random_device()() % count;
    for (uid_t i = 0; i < count; ++i) {
        const uid_t id = kFirstId + (start + i) % count;
        if (taken.contains(id) || getpwuid(id) != nullptr) continue; // NOLINT(concurrency-mt-unsafe)
        if (!is_mapped(id, "/proc/self/uid_map") || !is_mapped(id, "/proc/self/gid_map")) continue;
        return UnixUser{std::to_string(id), id, id};
    }
    return Error{Errc::kUnavailable, "there is no user for it alone; make one: useradd --system " + name};
}

} // namespace fathom::server
