#include "server/identity/authority.hpp"

#include "core/base/log.hpp"
#include "server/store/statement.hpp"

namespace fathom::server {
namespace {

// Two replicas that start on an empty database must not both make one.
constexpr Statement kLock{"identity_lock_authority", "SELECT pg_advisory_xact_lock(7233002)"};
constexpr Statement kFind{"identity_find_authority", "SELECT certificate_pem, key_pem FROM authority"};
constexpr Statement kInsertAuthority{"identity_insert_authority",
                                     "INSERT INTO authority (certificate_pem, key_pem) VALUES ($1, $2)"};

constexpr int kValidDays = 3650;

Result<net::Credential> find_or_make(pqxx::work& transaction)
{
    exec(transaction, kLock);
    if (const pqxx::result rows = exec(transaction, kFind); !rows.empty())
        return net::Credential{rows[0][0].as<std::string>(), rows[0][1].as<std::string>()};
    Result<net::Credential> made = net::make_authority("Fathom certificate authority", kValidDays);
    if (!made) return made;
    exec(transaction, kInsertAuthority, made->certificate_pem, made->key_pem);
    log_info("authority_created", {{"valid_days", kValidDays}});
    return made;
}

} // namespace

Result<net::Credential> load_authority(Database& database)
{
    return database.blocking_run(find_or_make);
}

} // namespace fathom::server
