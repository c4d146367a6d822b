#include "server/app/postgres_folder.hpp"

#include "core/base/file.hpp"
#include "core/base/log.hpp"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <fcntl.h>
#include <pwd.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <system_error>
#include <thread>
#include <unistd.h>
#include <vector>

namespace fathom::server {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

constexpr std::size_t kMostQuotedLog = 600; // bytes of the log in an error

Error failed(const std::string& what, const fs::path& path)
{
    return {Errc::kUnavailable, what + " " + path.string() + ": " + std::generic_category().message(errno)};
}

std::optional<UnixUser> to_user(const passwd* entry)
{
    if (entry == nullptr) return std::nullopt;
    return UnixUser{entry->pw_name, entry->pw_uid, entry->pw_gid};
}

/// Runs once, at the start, before other threads use the user database.
Result<std::optional<UnixUser>> choose_user(const fs::path& root)
{
    struct stat facts{};
    const bool exists = stat(root.c_str(), &facts) == 0;
    if (geteuid() != 0) {
        if (exists && facts.st_uid != geteuid())
            return Error{Errc::kUnavailable,
                         root.string() + " belongs to another user; start fathomd as that user or as root"};
        return std::optional<UnixUser>();
    }
    if (exists && facts.st_uid != 0) {
        std::optional<UnixUser> owner = to_user(getpwuid(facts.st_uid)); // NOLINT(concurrency-mt-unsafe)
        if (!owner)
            return Error{Errc::kUnavailable, root.string() + " belongs to user id " + std::to_string(facts.st_uid) +
                                                 ", which has no name here; PostgreSQL needs one"};
        return owner;
    }
    // PostgreSQL refuses to run as root.
    for (const char* const name : {"postgres", "nobody"})
        if (std::optional<UnixUser> user = to_user(getpwnam(name))) return user; // NOLINT(concurrency-mt-unsafe)
    return Error{Errc::kUnavailable, "PostgreSQL cannot run as root, and there is neither a user postgres nor nobody; "
                                     "make one: useradd --system postgres"};
}

Result<void> make_private(const fs::path& path, const std::optional<UnixUser>& user)
{
    if (mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) return failed("cannot make the folder", path);
    if (user && chown(path.c_str(), user->uid, user->gid) != 0) return failed("cannot give away", path);
    if (chmod(path.c_str(), 0700) != 0) return failed("cannot set the mode of", path);
    return {};
}

bool is_reachable_by(const std::optional<UnixUser>& user, const fs::path& path)
{
    if (!user) return true;
    ChildOptions test;
    test.arguments = {"/usr/bin/test", "-w", path.string()};
    test.user = user;
    return run_child(std::move(test)).has_value();
}

bool fits_socket_address(const fs::path& folder)
{
    return (folder / ".s.PGSQL.5432").string().size() < sizeof(sockaddr_un::sun_path);
}

// Says where the socket folder is when it is not inside.
fs::path note_path(const PostgresFolder& folder)
{
    return folder.root / "socket-folder";
}

bool is_ours_outside(const std::string& path)
{
    return path.starts_with("/run/fathom-postgres-") || path.starts_with("/tmp/fathom-postgres-");
}

Result<fs::path> make_outside_folder(const std::optional<UnixUser>& user)
{
    // /run is better: nothing cleans it up by age, and only root can make names there.
    for (const char* const place : {"/run/fathom-postgres-XXXXXX", "/tmp/fathom-postgres-XXXXXX"}) {
        std::string path = place;
        if (mkdtemp(path.data()) == nullptr) continue; // 0700
        if (user && chown(path.c_str(), user->uid, user->gid) != 0) return failed("cannot give away", path);
        return fs::path(path);
    }
    return failed("cannot make a folder for PostgreSQL's socket in", "/run and /tmp");
}

Result<void> choose_socket(PostgresFolder& folder)
{
    // One that a killed fathomd left.
    if (const Result<std::string> note = read_file(note_path(folder), 4096); note && is_ours_outside(*note)) {
        folder.socket = *note;
        remove_socket_folder(folder);
    }
    folder.socket = folder.root / "socket";
    if (folder.descriptor < 0 && fits_socket_address(folder.socket)) return make_private(folder.socket, folder.user);
    const Result<fs::path> outside = make_outside_folder(folder.user);
    if (!outside) return outside.error();
    folder.socket = *outside;
    return write_file(note_path(folder), folder.socket.string(), 0644);
}

std::optional<pid_t> parse_pid(std::string_view text)
{
    pid_t pid = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), pid);
    if (error != std::errc{} || pid <= 0) return std::nullopt;
    return pid;
}

/// PostgreSQL processes whose working folder is the cluster: each of them changes into it at once. A process
/// id file alone would not tell a server from a program that has got its number since.
std::vector<pid_t> processes_in(const fs::path& data)
{
    std::vector<pid_t> processes;
    struct stat wanted{};
    if (stat(data.c_str(), &wanted) != 0) return processes;
    std::error_code error;
    for (const auto& entry : fs::directory_iterator("/proc", error)) {
        const std::optional<pid_t> pid = parse_pid(entry.path().filename().string());
        struct stat cwd{};
        if (!pid || stat((entry.path() / "cwd").c_str(), &cwd) != 0) continue;
        if (cwd.st_dev != wanted.st_dev || cwd.st_ino != wanted.st_ino) continue;
        const Result<std::string> name = read_file(entry.path() / "comm", 64);
        if (name && name->starts_with("postgres")) processes.push_back(*pid);
    }
    return processes;
}

void signal_all(const std::vector<pid_t>& processes, int number)
{
    for (const pid_t process : processes)
        kill(process, number);
}

} // namespace

Result<PostgresFolder> prepare_postgres_folder(const fs::path& state_dir)
{
    PostgresFolder folder;
    folder.root = state_dir / "postgres";
    const Result<std::optional<UnixUser>> user = choose_user(folder.root);
    if (!user) return user.error();
    folder.user = *user;
    if (Result<void> made = make_private(folder.root, folder.user); !made) return made.error();
    folder.child_root = folder.root;
    if (!is_reachable_by(folder.user, folder.root)) {
        folder.descriptor = open(folder.root.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
        if (folder.descriptor < 0) return failed("cannot open", folder.root);
        folder.child_root = "/proc/self/fd/" + std::to_string(folder.descriptor);
    }
    if (Result<void> chosen = choose_socket(folder); !chosen) return chosen.error();
    return folder;
}

void remove_socket_folder(const PostgresFolder& folder)
{
    if (!is_ours_outside(folder.socket.string())) return;
    std::error_code ignored;
    fs::remove_all(folder.socket, ignored);
    fs::remove(note_path(folder), ignored);
}

Result<std::optional<int>> data_version(const PostgresFolder& folder)
{
    std::error_code ignored;
    if (!fs::exists(folder.data(), ignored)) return std::optional<int>();
    const Result<std::string> text = read_file(folder.data() / "PG_VERSION", 64);
    int version = 0;
    if (text && std::from_chars(text->data(), text->data() + text->size(), version).ec == std::errc{})
        return std::optional<int>(version);
    return Error{Errc::kUnavailable,
                 folder.data().string() + " is not a PostgreSQL cluster; move it away and start again"};
}

Result<void> stop_leftovers(const PostgresFolder& folder)
{
    const fs::path pid_file = folder.data() / "postmaster.pid";
    const auto start = std::chrono::steady_clock::now();
    bool asked = false;
    for (;;) {
        const std::vector<pid_t> processes = processes_in(folder.data());
        if (processes.empty()) break;
        const auto waited = std::chrono::steady_clock::now() - start;
        const Result<std::string> content = read_file(pid_file, 4096);
        const std::optional<pid_t> postmaster = content ? parse_pid(*content) : std::nullopt;
        const bool runs = postmaster && std::find(processes.begin(), processes.end(), *postmaster) != processes.end();
        if (runs && !asked) {
            log_info("embedded_postgres_leftover", {{"pid", *postmaster}});
            kill(*postmaster, SIGINT); // its fast, clean shutdown; without a postmaster the others end by themselves
            asked = true;
        }
        if (waited > 30s)
            return Error{Errc::kUnavailable, "a PostgreSQL process of an earlier start does not end (process " +
                                                 std::to_string(processes.front()) + ")"};
        if (waited > 25s)
            signal_all(processes, SIGKILL);
        else if (waited > 15s)
            signal_all(processes, SIGQUIT);
        std::this_thread::sleep_for(20ms);
    }
    std::error_code error;
    fs::remove(pid_file, error);
    if (error) return Error{Errc::kUnavailable, "cannot remove " + pid_file.string() + ": " + error.message()};
    return {};
}

std::string log_tail(const PostgresFolder& folder)
{
    const Result<std::string> text = read_file(folder.log(), 64UL << 20U);
    if (!text) return "its log cannot be read";
    std::string end = text->size() > kMostQuotedLog ? "…" + text->substr(text->size() - kMostQuotedLog) : *text;
    while (end.ends_with('\n'))
        end.pop_back();
    return end;
}

} // namespace fathom::server
