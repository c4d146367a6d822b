#pragma once

#include "server/identity/network_authorities.hpp"
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

/// The network's certificate authorities: read from the database, or the first made there by the first replica that
/// asks. All replicas get the same. Their private keys are in the database only encrypted with the key of `file`, which
/// is made together with the first authority; one that an older fathomd left there in clear is encrypted now. Blocks.
/// @error kNotFound  the database holds an encrypted key, and there is no such file.
/// @error kInvalid   the file does not hold a key, or not the one that the authority was encrypted with.
/// @error others     as Database::run, and as the file's functions.
Result<NetworkAuthorities> load_authorities(Database& database, const AuthorityKeyFile& file);

// The steps by which the authority is replaced, in the caller's transaction, after lock_authorities(). They block, and
// let pqxx's exceptions through to Database::run. Whether a step may be taken: check_rotation_step().

/// The certificates as the database has them; until the transaction ends nobody else changes them.
Result<AuthorityCertificates> lock_authorities(pqxx::transaction_base& transaction);
/// Makes a next authority.
/// @error others  as load_authorities().
Result<void> add_next_authority(pqxx::work& transaction, const AuthorityKeyFile& file);
/// The current one is past, and the next one current.
/// @param renew_within  over which agents spread the renewal of their certificates; 1 s at least.
void switch_authority(pqxx::transaction_base& transaction, std::chrono::seconds renew_within);
void drop_past_authority(pqxx::transaction_base& transaction);
void drop_next_authority(pqxx::transaction_base& transaction);

} // namespace fathom::server
