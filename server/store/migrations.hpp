#pragma once

#include "core/base/embedded_file.hpp"
#include "server/store/database.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace fathom::server {

/// A row of table schema_migration.
struct AppliedMigration {
    std::int64_t version{};
    std::string name;
    std::string sha256;
    std::string applied_at; ///< as PostgreSQL writes it
};

/// Whether this program, whose migrations are `files`, can bring what has these, in order, up to date. `whose` is what
/// has them: "the database".
/// @error kInvalid   the files are not numbered 1, 2, 3, …
/// @error kConflict  one differs from its file, or this program does not know it.
Result<void> check_migrations(const std::vector<AppliedMigration>& applied, std::span<const EmbeddedFile> files,
                              const std::string& whose);

/// Brings the database to the newest schema: applies each file `…/NNNN_name.sql` that is not in table
/// schema_migration yet, in order, each in one transaction under an advisory lock, so that replicas may
/// start at once. Blocks.
/// @error kInvalid   the files are not numbered 1, 2, 3, …
/// @error kConflict  an applied migration differs from its file, or the database has migrations that this
///                   program does not know (a newer fathomd made them). Nothing is changed then.
/// @error others     as Database::run; what was applied before stays.
Result<void> migrate(Database& database, std::span<const EmbeddedFile> files);

} // namespace fathom::server
