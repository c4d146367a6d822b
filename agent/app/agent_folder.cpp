#include "agent/app/agent_folder.hpp"

#include "agent/app/state_folder.hpp"
#include "core/base/error_text.hpp"
#include "core/base/log.hpp"

#include <cerrno>
#include <dirent.h>
#include <fcntl.h>
#include <memory>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

namespace fathom::agent {
namespace {

constexpr const char* kName = "agent";
constexpr const char* kAccount = "fathom-agent";
constexpr const char* kEnrolled = "agent.json";
/// What agents before this layout had in the state folder itself; the last one says that the others are complete.
constexpr const char* kOldFiles[] = {"spool.db-wal",   "spool.db-shm", "spool.db-journal", "spool.db", "agent-key.pem",
                                     "agent-cert.pem", "ca.pem",       "probe-request",    kEnrolled};

Error cannot(const std::string& what, const std::filesystem::path& path)
{
    return {Errc::kUnavailable, "cannot " + what + " " + path.string() + ": " + error_text(errno)};
}

struct CloseFolder {
    void operator()(DIR* folder) const { ::closedir(folder); }
};

bool is_root()
{
    return ::geteuid() == 0;
}

/// Whose the folder shall be; empty: ours.
std::optional<UnixUser> choose_user(const struct stat& folder)
{
    if (!is_root()) return std::nullopt;
    const bool has_account = ::getpwnam(kAccount) != nullptr; // NOLINT(concurrency-mt-unsafe)
    if (!has_account && is_free_own_id(folder.st_uid))
        return UnixUser{std::to_string(folder.st_uid), folder.st_uid, folder.st_gid};
    Result<UnixUser> user = find_own_user(kAccount);
    if (user) return std::move(*user);
    log_warning("agent_keeps_root", {{"error", user.error().detail}});
    return std::nullopt;
}

/// A plain file of the folder's present owner, or of ours, under one name: a second one could be anybody's file.
Result<void> give_file(int folder, const std::string& name, uid_t owner, uid_t uid, gid_t gid)
{
    const OpenFile file(::openat(folder, name.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
    struct stat facts{};
    if (file.number() < 0 || ::fstat(file.number(), &facts) != 0) return cannot("open", name);
    if (facts.st_uid == uid && facts.st_gid == gid) return {};
    if (!S_ISREG(facts.st_mode) || facts.st_nlink != 1 || (facts.st_uid != owner && facts.st_uid != ::geteuid()))
        return Error{Errc::kUnavailable, name + " in the agent's folder is no plain file of the agent: remove it"};
    if (::fchownat(file.number(), "", uid, gid, AT_EMPTY_PATH) != 0) return cannot("give away", name);
    return {};
}

/// With all that is in it, to who it shall belong from now on.
Result<void> give_folder(int folder, const struct stat& facts, uid_t uid, gid_t gid)
{
    const int listed = ::openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    const std::unique_ptr<DIR, CloseFolder> entries(listed < 0 ? nullptr : ::fdopendir(listed));
    if (!entries) return cannot("list", kName);
    while (const dirent* entry = ::readdir(entries.get())) { // NOLINT(concurrency-mt-unsafe)
        const std::string name = entry->d_name;
        if (name == "." || name == "..") continue;
        if (Result<void> given = give_file(folder, name, facts.st_uid, uid, gid); !given) return given;
    }
    if (::fchown(folder, uid, gid) != 0 || ::fchmod(folder, S_IRWXU) != 0) return cannot("give away", kName);
    return {};
}

/// Before the folder is given to anybody.
Result<void> move_old_files(int state, int folder)
{
    bool has_moved = false;
    for (const char* const name : kOldFiles) {
        struct stat facts{};
        if (::fstatat(state, name, &facts, AT_SYMLINK_NOFOLLOW) != 0) continue;
        if (!S_ISREG(facts.st_mode) || facts.st_uid != ::geteuid())
            return Error{Errc::kUnavailable, std::string(name) + " in the state folder is no plain file of ours"};
        if (::renameat(state, name, folder, name) != 0) return cannot("move", name);
        has_moved = true;
    }
    if (has_moved) log_info("state_moved", {{"to", kName}, {"effect", "an older fathom-agent does not find it there"}});
    return {};
}

} // namespace

bool is_enrolled(const std::filesystem::path& state_dir)
{
    const auto may_be_there = [](const std::filesystem::path& path) {
        std::error_code error; // who may not look is told so when it is opened
        return std::filesystem::exists(path, error) || error == std::errc::permission_denied;
    };
    return may_be_there(state_dir / kName / kEnrolled) || may_be_there(state_dir / kEnrolled);
}

Result<AgentFolder> prepare_agent_folder(const std::filesystem::path& state_dir)
{
    const Result<OpenFile> state = open_state_folder(state_dir);
    if (!state) return state.error();
    if (::mkdirat(state->number(), kName, S_IRWXU) != 0 && errno != EEXIST) return cannot("make", state_dir / kName);
    Result<AgentFolder> agent = open_agent_folder(state_dir);
    if (!agent) return agent;
    struct stat facts{};
    if (::fstat(agent->folder.number(), &facts) != 0) return cannot("look at", state_dir / kName);
    if (Result<void> moved = move_old_files(state->number(), agent->folder.number()); !moved) return moved.error();
    agent->user = choose_user(facts);
    if (!is_root()) return agent;
    const uid_t uid = agent->user ? agent->user->uid : 0;
    const gid_t gid = agent->user ? agent->user->gid : 0;
    if (Result<void> given = give_folder(agent->folder.number(), facts, uid, gid); !given) return given.error();
    return agent;
}

Result<AgentFolder> open_agent_folder(const std::filesystem::path& state_dir)
{
    const Result<OpenFile> state = open_state_folder(state_dir);
    if (!state) return state.error();
    AgentFolder agent;
    agent.folder = OpenFile(::openat(state->number(), kName, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    struct stat facts{};
    if (agent.folder.number() < 0 || ::fstat(agent.folder.number(), &facts) != 0) {
        const Errc code = errno == ENOENT ? Errc::kNotFound : Errc::kUnavailable;
        return Error{code, cannot("open", state_dir / kName).detail};
    }
    if (is_root() && facts.st_uid != 0) agent.user = UnixUser{std::to_string(facts.st_uid), facts.st_uid, facts.st_gid};
    return agent;
}

Result<void> enter(const AgentFolder& folder)
{
    if (::fchdir(folder.folder.number()) != 0) return cannot("enter", kName);
    return {};
}

} // namespace fathom::agent
