#pragma once

#include "server/app/backup/database_tools.hpp"
#include "server/app/embedded_postgres.hpp"
#include "server/app/state_lock.hpp"

#include <filesystem>
#include <memory>
#include <optional>
#include <string>

namespace fathom::server {

/// A database that a command works on, with what is held meanwhile.
struct OpenedDatabase {
    std::optional<StateLock> lock;              ///< of its state folder: no fathomd runs there
    std::unique_ptr<EmbeddedPostgres> embedded; ///< where it was started for the command; goes before the lock
    DatabaseTools tools;
};

/// Holds the state folder, so that no fathomd runs in it.
/// @error kConflict  one does; the detail says that it must be stopped.
Result<StateLock> take_stopped(const std::filesystem::path& state_dir);

/// The database of a URL, with PostgreSQL's programs of its server's version. Blocks.
/// @error kInvalid      not a URL.
/// @error kUnavailable  it does not answer, or there are no programs that know its version.
Result<DatabaseTools> reach_database(const std::string& url);

/// PostgreSQL's programs for what an archive holds, of no database.
/// @error kUnavailable  there are none.
Result<DatabaseTools> archive_tools();

/// Whether there is an embedded database that may be used. Changes nothing.
/// @error kNotFound     there is none.
/// @error kConflict     it was moved to another server.
/// @error kUnavailable  it is closed to us.
Result<void> check_embedded(const std::filesystem::path& state_dir);

/// The embedded database of a state folder: of the fathomd that runs there, or started for this once. Blocks.
/// @error as check_embedded(); kUnavailable  it cannot be started, or does not answer.
Result<OpenedDatabase> open_embedded(const std::filesystem::path& state_dir);

/// The same of a folder in which no fathomd runs, with its lock. One that is not there is made.
/// @error kConflict     it was moved to another server.
/// @error kUnavailable  it cannot be made or started.
Result<OpenedDatabase> start_embedded(const std::filesystem::path& state_dir, StateLock lock);

} // namespace fathom::server
