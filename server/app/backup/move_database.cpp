#include "server/app/backup/move_database.hpp"

#include "server/app/backup/command_settings.hpp"
#include "server/app/backup/moved_database.hpp"
#include "server/app/backup/opened_database.hpp"
#include "server/app/backup/run_command.hpp"
#include "server/app/backup/transfer.hpp"

#include <iostream>

namespace fathom::server {
namespace {

constexpr const char* kHelp =
    "Copies the embedded database to an empty database of another PostgreSQL server. fathomd must not run. All is\n"
    "copied, or nothing. Then it says what to set. The embedded database stays as it was, but fathomd uses it no "
    "more.\n"
    "A password is better in FATHOMD_TO than in --to, which everybody on the machine may read meanwhile.";

/// As a basic string of TOML.
std::string quoted_setting(const std::string& text)
{
    std::string quoted = "\"";
    for (const char c : text) {
        if (c == '"' || c == '\\') quoted += '\\';
        quoted += c;
    }
    return quoted + "\"";
}

void tell_what_to_set(std::int64_t tables, const std::string& target, bool has_password)
{
    std::cout << "Copied " << tables
              << " tables. Before fathomd starts again, set this in its file of settings (--config), "
              << "or as FATHOMD_DATABASE" << (has_password ? ", with the password" : "") << ":\n"
              << "database = " << quoted_setting(target) << std::endl;
}

/// From the embedded database that nobody uses to the one that is named.
Result<std::int64_t> copy(const CommandSettings& shared, const std::string& to, StopRequest& stop)
{
    if (const Result<void> there = check_embedded(shared.state_dir); !there) return there.error();
    Result<StateLock> lock = take_stopped(shared.state_dir);
    if (!lock) return lock.error();
    const Result<DatabaseTools> target = reach_database(to);
    if (!target) return target.error();
    if (const Result<void> empty = check_empty(*target); !empty) return empty.error();
    const Result<OpenedDatabase> source = start_embedded(shared.state_dir, std::move(*lock));
    if (!source) return source.error();
    return copy_database(source->tools, *target, stop);
}

Result<void> move_database(const Settings& settings, const CommandSettings& shared, StopRequest& stop)
{
    const std::string& to = settings.text("to");
    const Result<std::string> target = without_password(to);
    if (!target) return Error{Errc::kInvalid, "--to is neither a postgresql:// URL nor a libpq connection string"};
    if (!shared.database.empty())
        return Error{Errc::kConflict,
                     "fathomd uses another database already (setting database); only an embedded one is "
                     "moved. To go on from one server to the other: fathomd backup, then restore"};
    const Result<std::int64_t> tables = copy(shared, to, stop);
    if (!tables) return tables.error();
    if (Result<void> noted = note_moved_database(shared.state_dir, *target); !noted) return noted;
    tell_what_to_set(*tables, *target, *target != to);
    return {};
}

} // namespace

int move_database_command(int argc, const char* const* argv)
{
    return run_command(command_program("move-database", kHelp,
                                       {{.key = "to",
                                         .default_value = "",
                                         .help = "postgresql:// URL of the empty database",
                                         .check = check_given,
                                         .secret = true}},
                                       {"state_dir", "log_level"}),
                       argc, argv, move_database);
}

} // namespace fathom::server
