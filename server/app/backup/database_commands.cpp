#include "server/app/backup/database_commands.hpp"

#include "core/decide/routing/decision_text.hpp"
#include "server/app/backup/command_settings.hpp"
#include "server/app/backup/opened_database.hpp"
#include "server/app/backup/progress.hpp"
#include "server/app/backup/run_command.hpp"
#include "server/app/backup/transfer.hpp"

#include <iostream>

namespace fathom::server {
namespace {

constexpr const char* kBackupHelp =
    "Writes the whole database of a Fathom into one file, as it is at one moment, while fathomd runs or not.\n"
    "Everything that matters is in the database but the key of authority_key_file, which the authority's private key\n"
    "is encrypted with: save it, too, elsewhere; whoever has both can pretend to be the metascheduler.\n"
    "`fathomd restore` makes the file a Fathom again. It holds what waiting jobs were given, secrets included, and is\n"
    "readable by its owner alone. Keep it accordingly.";
constexpr const char* kRestoreHelp =
    "Fills an empty database from a file that `fathomd backup` wrote: the embedded one of a new state folder, or the\n"
    "one that --database names. fathomd must not run. All is restored, or nothing. Then put the backup's\n"
    "authority.key into the state folder, or let authority_key_file name it, and start fathomd: agents and tokens are\n"
    "those of the backup.";

Result<OpenedDatabase> open_source(const CommandSettings& shared)
{
    if (shared.database.empty()) return open_embedded(shared.state_dir);
    Result<DatabaseTools> tools = reach_database(shared.database);
    if (!tools) return tools.error();
    return OpenedDatabase{std::nullopt, nullptr, std::move(*tools)};
}

Result<void> back_up(const Settings& settings, const CommandSettings& shared, StopRequest& stop)
{
    const std::filesystem::path path = settings.text("output");
    Result<NewFile> file = NewFile::make(path, settings.text("force") == "on");
    if (!file) return file.error();
    const Result<OpenedDatabase> source = open_source(shared);
    if (!source) return source.error();
    const Result<std::int64_t> tables = dump_database(source->tools, *file, stop);
    if (!tables) return tables.error();
    const std::uintmax_t size = file->size();
    if (Result<void> named = file->commit(); !named) return named;
    std::cout
        << "Wrote " << path.string() << ": " << *tables << " tables, " << bytes_text(static_cast<double>(size))
        << ". It holds secrets. authority.key of the state folder (authority_key_file) is not in it: keep it, too."
        << std::endl;
    return {};
}

Result<OpenedDatabase> open_target(const CommandSettings& shared)
{
    Result<StateLock> lock = take_stopped(shared.state_dir);
    if (!lock) return lock.error();
    if (shared.database.empty()) return start_embedded(shared.state_dir, std::move(*lock));
    Result<DatabaseTools> tools = reach_database(shared.database);
    if (!tools) return tools.error();
    return OpenedDatabase{std::move(*lock), nullptr, std::move(*tools)};
}

Result<void> restore(const Settings& settings, const CommandSettings& shared, StopRequest& stop)
{
    // The file first: for one that is of no use nothing is made.
    Result<OpenFile> file = open_backup(settings.text("file"));
    if (!file) return file.error();
    const Result<DatabaseTools> reader = archive_tools();
    if (!reader) return reader.error();
    const Result<BackupArchive> archive = check_backup(std::move(*file), *reader);
    if (!archive) return archive.error();
    const Result<OpenedDatabase> target = open_target(shared);
    if (!target) return target.error();
    if (Result<void> empty = check_empty(target->tools); !empty) return empty;
    if (Result<void> done = restore_database(*archive, target->tools, stop); !done) return done;
    std::cout << "Restored " << archive->tables
              << " tables. Start fathomd now. What was changed after the backup is not in it: "
              << "a token that was revoked since is good again, until you revoke it again." << std::endl;
    return {};
}

} // namespace

int backup_command(int argc, const char* const* argv)
{
    return run_command(command_program("backup", kBackupHelp,
                                       {{"output", "", "the file to write", check_given},
                                        {.key = "force",
                                         .default_value = "off",
                                         .help = "replace the file if it exists",
                                         .check = check_one_of({"on", "off"}),
                                         .is_flag = true}},
                                       {"state_dir", "database", "log_level"}),
                       argc, argv, back_up);
}

int restore_command(int argc, const char* const* argv)
{
    return run_command(
        command_program(
            "restore", kRestoreHelp,
            {{.key = "file", .default_value = "", .help = "the backup", .check = check_given, .word = "FILE"}},
            {"state_dir", "database", "log_level"}),
        argc, argv, restore);
}

} // namespace fathom::server
