#include "server/identity/authority.hpp"

#include "core/base/file.hpp"
#include "core/base/log.hpp"
#include "server/identity/sealed_secret.hpp"
#include "server/store/statement.hpp"

#include <pqxx/binarystring>

#include <optional>

namespace fathom::server {
namespace {

// Two replicas that start on an empty database must not both make one, nor encrypt one twice.
constexpr Statement kLock{"identity_lock_authority", "SELECT pg_advisory_xact_lock(7233002)"};
constexpr Statement kFind{"identity_find_authority",
                          "SELECT certificate_pem, key_pem, sealed_key, created_at FROM authority"};
constexpr Statement kInsertAuthority{"identity_insert_authority",
                                     "INSERT INTO authority (certificate_pem, sealed_key, created_at) VALUES ($1, $2, "
                                     "coalesce($3::timestamptz, now()))"};
// UPDATE would leave the key in clear in the table's file, as a row of before. This makes a new file.
constexpr Statement kClear{"identity_clear_authority", "TRUNCATE authority"};

constexpr int kValidDays = 3650;
constexpr std::size_t kMaxKeyFileBytes = 4096;
constexpr unsigned kKeyFileMode = 0600;

Result<SealingKey> parse_key(const Result<std::string>& content, const AuthorityKeyFile& file)
{
    if (!content) return content.error();
    const Result<SealingKey> key = parse_sealing_key(*content);
    if (!key) return Error{Errc::kInvalid, file.path.string() + " " + key.error().detail};
    return key;
}

Result<void> insert(pqxx::work& transaction, const AuthorityKeyFile& file, const net::Credential& authority,
                    const std::optional<std::string>& created_at)
{
    const Result<SealingKey> key = parse_key(file.make(), file);
    if (!key) return key.error();
    const Result<std::string> sealed = seal(*key, authority.key_pem, authority.certificate_pem);
    if (!sealed) return sealed.error();
    exec(transaction, kInsertAuthority, authority.certificate_pem, pqxx::binarystring(*sealed), created_at);
    return {};
}

Result<net::Credential> make(pqxx::work& transaction, const AuthorityKeyFile& file)
{
    Result<net::Credential> made = net::make_authority("Fathom certificate authority", kValidDays);
    if (!made) return made;
    if (const Result<void> done = insert(transaction, file, *made, std::nullopt); !done) return done.error();
    log_info("authority_created", {{"valid_days", kValidDays}, {"key_file", file.path.string()}});
    return made;
}

/// One that an older fathomd left in clear.
Result<net::Credential> encrypt(pqxx::work& transaction, const AuthorityKeyFile& file, net::Credential authority,
                                const std::string& created_at)
{
    exec(transaction, kClear);
    if (const Result<void> done = insert(transaction, file, authority, created_at); !done) return done.error();
    log_info("authority_encrypted", {{"key_file", file.path.string()}});
    return authority;
}

Result<net::Credential> open(const AuthorityKeyFile& file, std::string certificate_pem, const std::string& sealed)
{
    const Result<std::string> content = file.read();
    if (!content && content.error().code == Errc::kNotFound)
        return Error{Errc::kNotFound, "there is no " + file.path.string() +
                                          ", with which the network's authority in the database is encrypted: copy it "
                                          "from another replica or a backup, or name it by authority_key_file"};
    const Result<SealingKey> key = parse_key(content, file);
    if (!key) return key.error();
    Result<std::string> key_pem = open_sealed(*key, sealed, certificate_pem);
    if (!key_pem)
        return Error{Errc::kInvalid, file.path.string() + " does not open the network's authority in the database: " +
                                         key_pem.error().detail + "; all replicas need the same file"};
    return net::Credential{std::move(certificate_pem), std::move(*key_pem)};
}

} // namespace

Result<std::string> make_authority_key_file(const std::filesystem::path& path)
{
    Result<std::string> content = read_file(path, kMaxKeyFileBytes);
    if (content || content.error().code != Errc::kNotFound) return content;
    std::string made = format_sealing_key(make_sealing_key());
    if (const Result<void> written = write_file(path, made, kKeyFileMode); !written) return written.error();
    return made;
}

Result<net::Credential> load_authority(Database& database, const AuthorityKeyFile& file)
{
    const auto work = [&](pqxx::work& transaction) -> Result<net::Credential> {
        exec(transaction, kLock);
        const pqxx::result rows = exec(transaction, kFind);
        if (rows.empty()) return make(transaction, file);
        auto certificate_pem = rows[0][0].as<std::string>();
        if (!rows[0][1].is_null())
            return encrypt(transaction, file, {std::move(certificate_pem), rows[0][1].as<std::string>()},
                           rows[0][3].as<std::string>());
        return open(file, std::move(certificate_pem), pqxx::binarystring(rows[0][2]).str());
    };
    return database.blocking_run(work);
}

} // namespace fathom::server
