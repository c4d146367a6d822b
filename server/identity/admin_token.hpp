#pragma once

#include "server/store/database.hpp"

#include <filesystem>
#include <functional>

namespace fathom::server {

/// Its name in the state folder.
inline constexpr const char* kAdminTokenFile = "admin.token";

/// The file that holds the first admin token, readable by its owner only.
struct AdminTokenFile {
    std::filesystem::path path;                            ///< as people are told
    std::function<Result<std::string>()> read;             ///< @error kNotFound  there is none. As read_file().
    std::function<Result<void>(const std::string&)> write; ///< as write_file()
};

/// Makes sure that someone can administrate. When the database holds no admin token that works, the secret
/// in `file` is accepted; without that file a fresh one is written there first.
/// Replicas on one database take turns, so only the first makes one. Otherwise checks the file and says in
/// the log what to do when it is lost or unknown. Blocks.
/// @error kInvalid      the file does not hold an API token.
/// @error kUnavailable  the file cannot be read or written.  Others as Database::run.
Result<void> ensure_admin_token(Database& database, const AdminTokenFile& file);

} // namespace fathom::server
