#pragma once

#include "server/app/backup/backup_archive.hpp"
#include "server/app/backup/new_file.hpp"
#include "server/app/backup/run_tools.hpp"

namespace fathom::server {

// Each blocks, tells its progress on standard error, and ends early when a stop is requested (kConflict).

/// Writes the whole database into the file, as it is at one moment.
/// @return how many tables it has.
/// @error kNotFound     the database is none of Fathom's.
/// @error kUnavailable  it cannot be reached, or the file cannot be written.
Result<std::int64_t> dump_database(const DatabaseTools& source, const NewFile& file, StopRequest& stop);

/// @error kConflict     something is in the database.
/// @error kUnavailable  it cannot be reached.
Result<void> check_empty(const DatabaseTools& tools);

/// Fills an empty database from a backup: with all of it, or with nothing.
Result<void> restore_database(const BackupArchive& archive, const DatabaseTools& target, StopRequest& stop);

/// The same from another database, without a file in between.
/// @return how many tables it has.
Result<std::int64_t> copy_database(const DatabaseTools& source, const DatabaseTools& target, StopRequest& stop);

} // namespace fathom::server
