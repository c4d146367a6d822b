#pragma once

#include "core/net/tls.hpp"
#include "server/store/database.hpp"

#include <filesystem>
#include <functional>

namespace fathom::server {

/// Its name in the state folder, unless the settings name another file.
inline constexpr const char* kAuthorityKeyFile = "authority.key";

/// The file whose key the authority's private key is encrypted with in the database. A secret of all replicas.
struct AuthorityKeyFile {
    std::filesystem::path path;                ///< as people are told
    std::function<Result<std::string>()> read; ///< @error kNotFound  there is none. As read_file().
    std::function<Result<std::string>()> make; ///< as make_authority_key_file()
};

/// The content of the file; where there is none a fresh key is written there first, for its owner alone, flushed to the
/// disk. Blocks.
/// @error kUnavailable  the file cannot be read or written.
Result<std::string> make_authority_key_file(const std::filesystem::path& path);

/// The network's certificate authority: read from the database, or made there by the first replica that asks. All
/// replicas get the same one. Its private key is in the database only encrypted with the key of `file`, which is made
/// together with the authority; one that an older fathomd left there in clear is encrypted now. Blocks.
/// @error kNotFound  the database holds an encrypted key, and there is no such file.
/// @error kInvalid   the file does not hold a key, or not the one that the authority was encrypted with.
/// @error others     as Database::run, and as the file's functions.
Result<net::Credential> load_authority(Database& database, const AuthorityKeyFile& file);

} // namespace fathom::server
