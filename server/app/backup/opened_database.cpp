#include "server/app/backup/opened_database.hpp"

#include "core/base/own_user.hpp"
#include "core/base/parse_number.hpp"
#include "server/app/backup/moved_database.hpp"
#include "server/app/postgres_folder.hpp"

#include <chrono>
#include <thread>
#include <unistd.h>

namespace fathom::server {
namespace {

using namespace std::chrono_literals;

constexpr const char* kMajorVersion = "SELECT current_setting('server_version_num')::integer / 10000";

/// The user as which fathomd gets into a database that is not its own: it may be known there by its name, and be the
/// one who may read what the URL names.
Result<std::optional<UnixUser>> client_user()
{
    if (geteuid() != 0) return std::optional<UnixUser>();
    Result<UnixUser> user = find_own_user("fathomd");
    if (!user) return user.error();
    return std::optional(std::move(*user));
}

Error no_embedded_database(const std::filesystem::path& state_dir)
{
    return {Errc::kNotFound, "there is no embedded database in " + state_dir.string() +
                                 "; name another --state-dir, or with --database the one that fathomd uses"};
}

/// The version of its cluster.
Result<int> embedded_version(const std::filesystem::path& state_dir, const PostgresFolder& folder)
{
    const Result<std::optional<int>> version = data_version(folder);
    if (!version) return version.error();
    if (!*version) return no_embedded_database(state_dir);
    return **version;
}

/// The programs for a database of the embedded server that runs.
Result<DatabaseTools> reach_embedded(const std::filesystem::path& state_dir, PostgresRole role,
                                     const std::string& database)
{
    const Result<PostgresFolder> folder = find_postgres_folder(state_dir);
    if (!folder) return folder.error();
    const Result<int> version = embedded_version(state_dir, *folder);
    if (!version) return version.error();
    Result<PostgresBinaries> programs = find_postgres_tools(postgres_search_folders(), *version);
    if (!programs) return programs.error();
    Result<ToolConnection> connection = tool_connection(connection_to(*folder, role, database));
    if (!connection) return connection.error();
    return DatabaseTools(std::move(*programs), std::move(*connection), folder->user);
}

/// As the superuser, where the server has no owner for the database yet: the fathomd that runs is of an earlier
/// release than this program. Of another database than the owner's, which could give what is asked another meaning.
bool is_without_owner(const std::filesystem::path& state_dir)
{
    const Result<DatabaseTools> tools = reach_embedded(state_dir, PostgresRole::kSuperuser, "postgres");
    if (!tools) return false;
    const Result<std::string> owners = tools->ask("SELECT count(*) FROM pg_roles WHERE rolname = 'fathomd'");
    return owners && *owners == "0";
}

/// Waits until the database of a fathomd that runs answers: it may just have started.
Result<DatabaseTools> reach_running(const std::filesystem::path& state_dir)
{
    const auto end = std::chrono::steady_clock::now() + 20s;
    for (;;) {
        const PostgresRole role = is_without_owner(state_dir) ? PostgresRole::kSuperuser : PostgresRole::kOwner;
        Result<DatabaseTools> tools = reach_embedded(state_dir, role, "fathom");
        if (!tools) return tools;
        const Result<std::string> answer = tools->ask(kMajorVersion);
        if (answer) return tools;
        if (std::chrono::steady_clock::now() > end)
            return Error{Errc::kUnavailable,
                         "a fathomd runs with this state folder, but its embedded database does not "
                         "answer; if it uses another database, name that with --database: " +
                             answer.error().detail};
        std::this_thread::sleep_for(500ms);
    }
}

} // namespace

Result<StateLock> take_stopped(const std::filesystem::path& state_dir)
{
    Result<StateLock> lock = StateLock::take(state_dir);
    if (lock || lock.error().code != Errc::kConflict) return lock;
    return Error{Errc::kConflict, "stop fathomd first: " + lock.error().detail};
}

Result<DatabaseTools> reach_database(const std::string& url)
{
    const Result<ToolConnection> connection = tool_connection(url);
    if (!connection) return connection.error();
    const Result<std::optional<UnixUser>> user = client_user();
    if (!user) return user.error();
    const std::vector<std::filesystem::path> places = postgres_search_folders();
    const Result<PostgresBinaries> newest = find_postgres_tools(places, std::nullopt);
    if (!newest) return newest.error();
    const Result<std::string> answer = DatabaseTools(*newest, *connection, *user).ask(kMajorVersion);
    if (!answer) return Error{answer.error().code, "the database does not let us in: " + answer.error().detail};
    const int version = parse_number<int>(*answer).value_or(0);
    Result<PostgresBinaries> programs = find_postgres_tools(places, version);
    if (!programs) return programs.error();
    if (programs->major_version < version)
        return Error{Errc::kUnavailable, "the database's PostgreSQL is of version " + *answer +
                                             ", but the newest pg_dump here is of version " +
                                             std::to_string(programs->major_version) + "; install postgresql-client-" +
                                             *answer};
    return DatabaseTools(std::move(*programs), *connection, *user);
}

Result<DatabaseTools> archive_tools()
{
    const Result<std::optional<UnixUser>> user = client_user();
    if (!user) return user.error();
    Result<PostgresBinaries> newest = find_postgres_tools(postgres_search_folders(), std::nullopt);
    if (!newest) return newest.error();
    return DatabaseTools(std::move(*newest), {}, *user);
}

Result<void> check_embedded(const std::filesystem::path& state_dir)
{
    if (Result<void> usable = refuse_moved_database(state_dir); !usable) return usable;
    const Result<PostgresFolder> folder = find_postgres_folder(state_dir);
    if (!folder && folder.error().code == Errc::kNotFound) return no_embedded_database(state_dir);
    if (!folder) return folder.error();
    const Result<int> version = embedded_version(state_dir, *folder);
    if (!version) return version.error();
    return {};
}

Result<OpenedDatabase> open_embedded(const std::filesystem::path& state_dir)
{
    // First: taking the lock would make the folder.
    if (Result<void> there = check_embedded(state_dir); !there) return there.error();
    Result<StateLock> lock = StateLock::take(state_dir);
    if (lock) return start_embedded(state_dir, std::move(*lock));
    if (lock.error().code != Errc::kConflict) return lock.error();
    Result<DatabaseTools> tools = reach_running(state_dir);
    if (!tools) return tools.error();
    return OpenedDatabase{std::nullopt, nullptr, std::move(*tools)};
}

Result<OpenedDatabase> start_embedded(const std::filesystem::path& state_dir, StateLock lock)
{
    if (Result<void> usable = refuse_moved_database(state_dir); !usable) return usable.error();
    Result<std::unique_ptr<EmbeddedPostgres>> embedded = EmbeddedPostgres::start({.state_dir = state_dir});
    if (!embedded) return embedded.error();
    Result<DatabaseTools> tools = reach_embedded(state_dir, PostgresRole::kOwner, "fathom");
    if (!tools) return tools.error();
    return OpenedDatabase{std::move(lock), std::move(*embedded), std::move(*tools)};
}

} // namespace fathom::server
