#include "server/identity/authority.hpp"

#include "core/base/file.hpp"
#include "core/base/secret.hpp"
#include "server/identity/sealed_secret.hpp"
#include "server/store/column.hpp"
#include "server/store/log_after_commit.hpp"
#include "server/store/statement.hpp"

#include <pqxx/binarystring>

#include <optional>

namespace fathom::server {
namespace {

// Two replicas that start on an empty database must not both make one, nor encrypt one twice.
constexpr Statement kLock{"identity_lock_authority", "SELECT pg_advisory_xact_lock(7233002)"};
constexpr Statement kFind{"identity_find_authorities",
                          "SELECT role, certificate_pem, key_pem, sealed_key, created_at, role_since, renew_within_s "
                          "FROM authority"};
constexpr Statement kInsertAuthority{"identity_insert_authority",
                                     "INSERT INTO authority (role, certificate_pem, sealed_key, created_at) "
                                     "VALUES ($1, $2, $3, coalesce($4::timestamptz, now()))"};
constexpr Statement kMakePast{"identity_make_authority_past",
                              "UPDATE authority SET role = 'past', role_since = now() WHERE role = 'current'"};
constexpr Statement kMakeCurrent{"identity_make_authority_current",
                                 "UPDATE authority SET role = 'current', role_since = now(), renew_within_s = $1 "
                                 "WHERE role = 'next'"};
constexpr Statement kDrop{"identity_drop_authority", "DELETE FROM authority WHERE role = $1"};
// UPDATE would leave the key in clear in the table's file, as a row of before. This makes a new file. A fathomd that
// left a key in clear knew one authority only, so there is no other row.
constexpr Statement kClear{"identity_clear_authority", "TRUNCATE authority"};

constexpr const char* kCurrent = "current"; // roles in the table
constexpr const char* kNext = "next";
constexpr const char* kPast = "past";
constexpr const char* kName = "Fathom certificate authority";
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

Result<void> insert(pqxx::work& transaction, const Result<std::string>& key_file, const AuthorityKeyFile& file,
                    const char* role, const net::Credential& authority, const std::optional<std::string>& created_at)
{
    const Result<SealingKey> key = parse_key(key_file, file);
    if (!key) return key.error();
    const Result<std::string> sealed = seal(*key, authority.key_pem, authority.certificate_pem);
    if (!sealed) return sealed.error();
    exec(transaction, kInsertAuthority, role, authority.certificate_pem, pqxx::binarystring(*sealed), created_at);
    return {};
}

Result<void> make(pqxx::work& transaction, const AuthorityKeyFile& file)
{
    const Result<net::Credential> made = net::make_authority(kName, kValidDays);
    if (!made) return made.error();
    if (Result<void> done = insert(transaction, file.make(), file, kCurrent, *made, std::nullopt); !done) return done;
    log_after_commit(LogLevel::kInfo, "authority_created",
                     {{"valid_days", kValidDays}, {"key_file", file.path.string()}});
    return {};
}

/// One that an older fathomd left in clear.
Result<void> encrypt(pqxx::work& transaction, const AuthorityKeyFile& file, const pqxx::row& row)
{
    const net::Credential authority{row["certificate_pem"].as<std::string>(), row["key_pem"].as<std::string>()};
    const auto created_at = row["created_at"].as<std::string>();
    exec(transaction, kClear);
    if (Result<void> done = insert(transaction, file.make(), file, kCurrent, authority, created_at); !done) return done;
    log_after_commit(LogLevel::kInfo, "authority_encrypted", {{"key_file", file.path.string()}});
    return {};
}

Result<std::string> open(const AuthorityKeyFile& file, const std::string& certificate_pem, const std::string& sealed)
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
    return key_pem;
}

Result<AuthorityCertificates> certificates_of(const pqxx::result& rows)
{
    AuthorityCertificates all;
    for (const pqxx::row& row : rows) {
        AuthorityCertificate one{
            .pem = row["certificate_pem"].as<std::string>(), .facts = {}, .since = to_timestamp(row["role_since"])};
        Result<net::CertificateFacts> facts = net::read_certificate(one.pem);
        if (!facts) return facts.error();
        one.facts = std::move(*facts);
        const auto role = row["role"].as<std::string>();
        if (role == kCurrent) all.current = std::move(one);
        if (role == kNext) all.next = std::move(one);
        if (role == kPast) all.past = std::move(one);
    }
    return all;
}

pqxx::row find_current(const pqxx::result& rows)
{
    for (const pqxx::row& row : rows)
        if (row["role"].as<std::string>() == kCurrent) return row;
    return {};
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

Result<NetworkAuthorities> load_authorities(Database& database, const AuthorityKeyFile& file)
{
    const auto work = [&](pqxx::work& transaction) -> Result<NetworkAuthorities> {
        exec(transaction, kLock);
        pqxx::result rows = exec(transaction, kFind);
        const bool is_in_clear = !rows.empty() && !find_current(rows)["key_pem"].is_null();
        if (rows.empty() || is_in_clear) {
            const Result<void> done =
                rows.empty() ? make(transaction, file) : encrypt(transaction, file, find_current(rows));
            if (!done) return done.error();
            rows = exec(transaction, kFind);
        }
        Result<AuthorityCertificates> certificates = certificates_of(rows);
        if (!certificates) return certificates.error();
        const pqxx::row current = find_current(rows);
        Result<std::string> key_pem =
            open(file, certificates->current.pem, pqxx::binarystring(current["sealed_key"]).str());
        if (!key_pem) return key_pem.error();
        return NetworkAuthorities{.certificates = std::move(*certificates),
                                  .key_pem = std::move(*key_pem),
                                  .renew_within = std::chrono::seconds(current["renew_within_s"].as<std::int64_t>())};
    };
    return database.blocking_run(work);
}

Result<AuthorityCertificates> lock_authorities(pqxx::transaction_base& transaction)
{
    exec(transaction, kLock);
    return certificates_of(exec(transaction, kFind));
}

Result<void> add_next_authority(pqxx::work& transaction, const AuthorityKeyFile& file)
{
    // A name of its own: programs that look authorities up by their names find the right one.
    const std::string name = kName + std::string(" ") + sha256_hex(new_secret("")).substr(0, 8);
    const Result<net::Credential> made = net::make_authority(name, kValidDays);
    if (!made) return made.error();
    return insert(transaction, file.read(), file, kNext, *made, std::nullopt);
}

void switch_authority(pqxx::transaction_base& transaction, std::chrono::seconds renew_within)
{
    exec(transaction, kMakePast);
    exec(transaction, kMakeCurrent, renew_within.count());
}

void drop_past_authority(pqxx::transaction_base& transaction)
{
    exec(transaction, kDrop, kPast);
}

void drop_next_authority(pqxx::transaction_base& transaction)
{
    exec(transaction, kDrop, kNext);
}

} // namespace fathom::server
