#pragma once

#include "core/base/embedded_file.hpp"
#include "server/store/database.hpp"

#include <span>

namespace fathom::server {

/// Brings the database to the newest schema: applies each file `…/NNNN_name.sql` that is not in table
/// schema_migration yet, in order, each in one transaction under an advisory lock, so that replicas may
/// start at once. Blocks.
/// @error kInvalid   the files are not numbered 1, 2, 3, …
/// @error kConflict  an applied migration differs from its file, or the database has migrations that this
///                   program does not know (a newer fathomd made them). Nothing is changed then.
/// @error others     as Database::run; what was applied before stays.
Result<void> migrate(Database& database, std::span<const EmbeddedFile> files);

} // namespace fathom::server
