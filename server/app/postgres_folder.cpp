#include "server/app/postgres_folder.hpp"

#include "core/base/error_text.hpp"
#include "core/base/file.hpp"
#include "core/base/log.hpp"
#include "core/base/parse_number.hpp"

#include <algorithm>
#include <cerrno>
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

constexpr std::chrono::minutes kRemovalLimit{10}; // of an unfinished cluster: some thousand files
constexpr std::uintmax_t kLargestLog = 16U << 20U;
constexpr std::size_t kMaxQuotedLog = 600; // bytes of the log in an error

Error failed(const std::string& what, const fs::path& path)
{
    return {Errc::kUnavailable, what + " " + path.string() + ": " + error_text(errno)};
}

std::optional<UnixUser> to_user(const passwd* entry)
{
    if (entry == nullptr) return std::nullopt;
    return UnixUser{entry->pw_name, entry->pw_uid, entry->pw_gid};
}

constexpr const char* kSocketFile = ".s.PGSQL.5432";

/// Runs once, at the start, before other threads use the user database.
Result<std::optional<UnixUser>> choose_user(const fs::path& root)
{
    struct stat facts{};
    const bool exists = lstat(root.c_str(), &facts) == 0;
    if (exists && !S_ISDIR(facts.st_mode))
        return Error{Errc::kUnavailable, root.string() + " is a link, or no folder: it is not followed"};
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
        if (owner->name == "nobody")
            return Error{Errc::kUnavailable,
                         root.string() +
                             " belongs to nobody, as which other programs run as well; give it to a user "
                             "of its own: useradd --system fathom-db; chown -R -h fathom-db: " +
                             root.string()};
        return owner;
    }
    // PostgreSQL refuses to run as root.
    for (const char* const name : {"fathom-db", "postgres"})
        if (std::optional<UnixUser> user = to_user(getpwnam(name))) return user; // NOLINT(concurrency-mt-unsafe)
    return Error{Errc::kUnavailable, "PostgreSQL cannot run as root, and there is neither a user fathom-db nor "
                                     "postgres; make one: useradd --system fathom-db"};
}

bool is_reachable_by(const std::optional<UnixUser>& user, const fs::path& path)
{
    if (!user) return true;
    ChildOptions test;
    test.arguments = {"/usr/bin/test", "-w", path.string()};
    test.user = user;
    return run_child(std::move(test), kAnswerLimit).has_value();
}

bool fits_socket_address(const fs::path& folder)
{
    return (folder / kSocketFile).string().size() < sizeof(sockaddr_un::sun_path);
}

bool is_ours_outside(const fs::path& path)
{
    return path == path.lexically_normal() && (path.parent_path() == "/run" || path.parent_path() == "/tmp") &&
           path.filename().string().starts_with("fathom-postgres-");
}

Result<fs::path> make_outside_folder(const PostgresFolder& folder, std::optional<gid_t> client_group)
{
    // /run is better: nothing cleans it up by age, and only root can make names there.
    for (const char* const place : {"/run/fathom-postgres-XXXXXX", "/tmp/fathom-postgres-XXXXXX"}) {
        std::string path = place;
        if (mkdtemp(path.data()) == nullptr) continue; // 0700
        const Result<OpenFile> made = make_folder(AT_FDCWD, path, folder.uid(), folder.gid());
        if (!made) return made.error();
        if (client_group && (fchown(made->number(), folder.uid(), *client_group) != 0 ||
                             fchmod(made->number(), S_IRWXU | S_IRGRP | S_IXGRP) != 0))
            return failed("cannot open to fathomd's server", path);
        return fs::path(path);
    }
    return failed("cannot make a folder for PostgreSQL's socket in", "/run and /tmp");
}

Result<void> choose_socket(PostgresFolder& folder, std::optional<gid_t> client_group)
{
    // One that a killed fathomd left.
    if (const Result<std::string> note = read_file(folder.note, 4096); note && is_ours_outside(*note)) {
        folder.socket = *note;
        remove_socket_folder(folder);
    }
    folder.socket = folder.root / "socket";
    if (!client_group && folder.descriptor < 0 && fits_socket_address(folder.socket)) {
        const Result<OpenFile> made = make_folder(folder.opened->number(), "socket", folder.uid(), folder.gid());
        if (!made) return made.error();
        return {};
    }
    const Result<fs::path> outside = make_outside_folder(folder, client_group);
    if (!outside) return outside.error();
    folder.socket = *outside;
    return write_file(folder.note, folder.socket.string(), 0644);
}

std::optional<pid_t> parse_pid(std::string_view text)
{
    const std::optional<pid_t> pid = take_number<pid_t>(text);
    return pid && *pid > 0 ? pid : std::nullopt;
}

/// PostgreSQL processes of its user whose working folder is the cluster: each of them changes into it at once. A
/// process id file alone would not tell a server from a program that has got its number since.
std::vector<pid_t> processes_in(const OpenFile& data, uid_t user)
{
    std::vector<pid_t> processes;
    struct stat wanted{};
    if (fstat(data.number(), &wanted) != 0) return processes;
    std::error_code error;
    for (const auto& entry : fs::directory_iterator("/proc", error)) {
        const std::optional<pid_t> pid = parse_pid(entry.path().filename().string());
        struct stat owner{};
        struct stat cwd{};
        if (!pid || stat(entry.path().c_str(), &owner) != 0 || owner.st_uid != user) continue;
        if (stat((entry.path() / "cwd").c_str(), &cwd) != 0) continue;
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

uid_t PostgresFolder::uid() const
{
    return user ? user->uid : geteuid();
}

gid_t PostgresFolder::gid() const
{
    return user ? user->gid : getegid();
}

Result<OpenFile> PostgresFolder::open_data() const
{
    return open_folder(opened->number(), "data", uid());
}

Result<PostgresFolder> prepare_postgres_folder(const fs::path& state_dir, std::optional<gid_t> client_group)
{
    PostgresFolder folder;
    folder.root = state_dir / "postgres";
    folder.note = state_dir / "postgres-socket-folder";
    const Result<std::optional<UnixUser>> user = choose_user(folder.root);
    if (!user) return user.error();
    folder.user = *user;
    Result<OpenFile> opened = make_folder(AT_FDCWD, folder.root, folder.uid(), folder.gid());
    if (!opened) return opened.error();
    folder.opened = std::make_shared<const OpenFile>(std::move(*opened));
    folder.child_root = folder.root;
    if (!is_reachable_by(folder.user, folder.root)) {
        folder.descriptor = fcntl(folder.opened->number(), F_DUPFD_CLOEXEC, 0);
        if (folder.descriptor < 0) return failed("cannot open", folder.root);
        folder.child_root = "/proc/self/fd/" + std::to_string(folder.descriptor);
    }
    if (Result<void> chosen = choose_socket(folder, client_group); !chosen) return chosen.error();
    return folder;
}

Result<PostgresFolder> find_postgres_folder(const fs::path& state_dir)
{
    PostgresFolder folder;
    folder.root = state_dir / "postgres";
    folder.note = state_dir / "postgres-socket-folder";
    const Result<std::optional<UnixUser>> user = choose_user(folder.root);
    if (!user) return user.error();
    folder.user = *user;
    Result<OpenFile> opened = open_folder(AT_FDCWD, folder.root, folder.uid());
    if (!opened) return opened.error();
    folder.opened = std::make_shared<const OpenFile>(std::move(*opened));
    folder.child_root = folder.root;
    folder.socket = folder.root / "socket";
    if (const Result<std::string> note = read_file(folder.note, 4096); note && is_ours_outside(*note))
        folder.socket = *note;
    return folder;
}

std::string connection_to(const PostgresFolder& folder, PostgresRole role, const std::string& database)
{
    std::string host;
    for (const char c : folder.socket.string()) {
        if (c == '\'' || c == '\\') host += '\\';
        host += c;
    }
    const char* const user = role == PostgresRole::kSuperuser ? "fathom" : "fathomd";
    return "host='" + host + "' port=5432 user=" + user + " dbname=" + database;
}

void remove_socket_folder(const PostgresFolder& folder)
{
    if (!is_ours_outside(folder.socket)) return;
    // What else somebody has put there stays, and so does then the folder.
    if (const Result<OpenFile> opened = open_folder(AT_FDCWD, folder.socket, folder.uid()); opened) {
        for (const std::string& name : {std::string(kSocketFile), std::string(kSocketFile) + ".lock"})
            unlinkat(opened->number(), name.c_str(), 0);
        rmdir(folder.socket.c_str());
    }
    std::error_code ignored;
    fs::remove(folder.note, ignored);
}

Result<std::optional<int>> data_version(const PostgresFolder& folder)
{
    const Result<OpenFile> data = folder.open_data();
    if (!data && data.error().code == Errc::kNotFound) return std::optional<int>();
    if (!data) return data.error();
    const Result<std::string> text = read_end(data->number(), "PG_VERSION", folder.uid(), 64);
    std::string_view rest = text ? std::string_view(*text) : std::string_view();
    if (const std::optional<int> version = take_number<int>(rest)) return version;
    return Error{Errc::kUnavailable,
                 folder.data().string() + " is not a PostgreSQL cluster; move it away and start again"};
}

Result<void> remove_unfinished_cluster(const PostgresFolder& folder)
{
    ChildOptions removal; // as its user: whatever stands there now, it is theirs to remove
    removal.arguments = {"/bin/rm", "-rf", "--", (folder.child_root / "data.new").string()};
    removal.user = folder.user;
    removal.inherited = folder.descriptor;
    if (const Result<std::string> done = run_child(std::move(removal), kRemovalLimit); !done) return done.error();
    return {};
}

Result<void> name_new_cluster(const PostgresFolder& folder)
{
    // Where a link stands in its place, that is what gets the name, and opening it finds out.
    if (renameat(folder.opened->number(), "data.new", folder.opened->number(), "data") != 0)
        return failed("cannot name the new cluster", folder.data());
    return {};
}

Result<OpenFile> open_postgres_log(const PostgresFolder& folder)
{
    const int root = folder.opened->number();
    if (size_of(root, "log").value_or(0) > kLargestLog) renameat(root, "log", root, "log.old");
    return open_log(root, "log", folder.uid(), folder.gid());
}

Result<void> stop_leftovers(const PostgresFolder& folder)
{
    const Result<OpenFile> data = folder.open_data();
    if (!data && data.error().code == Errc::kNotFound) return {};
    if (!data) return data.error();
    const auto start = std::chrono::steady_clock::now();
    bool asked = false;
    for (;;) {
        const std::vector<pid_t> processes = processes_in(*data, folder.uid());
        if (processes.empty()) break;
        const auto waited = std::chrono::steady_clock::now() - start;
        const Result<std::string> content = read_end(data->number(), "postmaster.pid", folder.uid(), 4096);
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
    if (unlinkat(data->number(), "postmaster.pid", 0) != 0 && errno != ENOENT)
        return failed("cannot remove", folder.data() / "postmaster.pid");
    return {};
}

std::string log_tail(const PostgresFolder& folder)
{
    const Result<std::string> text = read_end(folder.opened->number(), "log", folder.uid(), kMaxQuotedLog);
    if (!text) return "its log cannot be read: " + text.error().detail;
    std::string end = text->size() == kMaxQuotedLog ? "…" + *text : *text;
    while (end.ends_with('\n'))
        end.pop_back();
    return end;
}

} // namespace fathom::server
