#include "server/app/own_user.hpp"

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <pwd.h>
#include <random>
#include <set>
#include <sys/stat.h>
#include <utility>
#include <vector>

namespace fathom::server {
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

} // namespace

Result<UnixUser> find_own_user(const std::string& name)
{
    if (const passwd* const entry = getpwnam(name.c_str()); entry != nullptr) // NOLINT(concurrency-mt-unsafe)
        return UnixUser{entry->pw_name, entry->pw_uid, entry->pw_gid};
    const std::set<uid_t> taken = ids_with_processes();
    const MappedIds users("/proc/self/uid_map");
    const MappedIds groups("/proc/self/gid_map");
    // Two that look at the same moment should not find the same.
    const uid_t count = kLastId - kFirstId + 1;
    const uid_t start = std::random_device()() % count;
    for (uid_t i = 0; i < count; ++i) {
        const uid_t id = kFirstId + (start + i) % count;
        if (!users.contains(id) || !groups.contains(id) || taken.contains(id)) continue;
        if (getpwuid(id) != nullptr) continue; // NOLINT(concurrency-mt-unsafe)
        return UnixUser{std::to_string(id), id, id};
    }
    return Error{Errc::kUnavailable, "there is no user for it alone; make one: useradd --system " + name};
}

} // namespace fathom::server
