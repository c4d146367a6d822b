#pragma once

#include "server/store/database.hpp"

#include <filesystem>

namespace fathom::server {

/// Makes sure that someone can administrate. When the database holds no admin token that works, the secret
/// in `state_dir`/admin.token is accepted; without that file a fresh one is written there first (0600).
/// Replicas on one database take turns, so only the first makes one. Otherwise checks the file and says in
/// the log what to do when it is lost or unknown. Blocks.
/// @error kInvalid      the file does not hold an API token.
/// @error kUnavailable  the file cannot be read or written.  Others as Database::run.
Result<void> ensure_admin_token(Database& database, const std::filesystem::path& state_dir);

} // namespace fathom::server
