#pragma once

#include "core/base/open_file.hpp"
#include "server/app/backup/database_tools.hpp"

#include <filesystem>

namespace fathom::server {

/// A backup, opened for reading.
struct BackupArchive {
    OpenFile file;
    std::int64_t tables{}; ///< whose rows it holds
};

/// @error kNotFound     there is no such file.
/// @error kUnavailable  it cannot be read.
/// @error kInvalid      it is no archive of pg_dump.
Result<OpenFile> open_backup(const std::filesystem::path& path);

/// Makes sure that an archive is of Fathom, and that this program can bring it up to date. Blocks; reads through the
/// file at worst.
/// @param tools  whose pg_restore is used; the database is not touched.
/// @error kInvalid   it is none of Fathom's, or cannot be read.
/// @error kConflict  a newer fathomd made it.
Result<BackupArchive> check_backup(OpenFile file, const DatabaseTools& tools);

/// From the beginning of the file: programs that were given it share its place in the file.
Result<void> rewind(const OpenFile& file);

} // namespace fathom::server
