#include "server/identity/session_store.hpp"

#include "server/store/column.hpp"
#include "server/store/statement.hpp"

namespace fathom::server {
namespace {

constexpr Statement kInsert{"identity_insert_web_session", R"sql(
    INSERT INTO web_session (secret_sha256, token_id, account, expires_at)
    VALUES ($1, $2, $3, now() + make_interval(secs => $4::bigint)))sql"};
constexpr Statement kRemoveOldest{"identity_remove_oldest_web_sessions", R"sql(
    DELETE FROM web_session WHERE secret_sha256 IN (
        SELECT secret_sha256 FROM web_session WHERE token_id = $1 ORDER BY created_at DESC OFFSET $2))sql"};
constexpr Statement kFind{"identity_find_web_session", R"sql(
    SELECT s.account, s.expires_at, a.password_hash IS NOT NULL
    FROM web_session s LEFT JOIN user_account a ON a.name = s.account WHERE s.secret_sha256 = $1)sql"};
constexpr Statement kRemove{"identity_remove_web_session", "DELETE FROM web_session WHERE secret_sha256 = $1"};
constexpr Statement kRemoveOf{"identity_remove_web_sessions_of", R"sql(
    DELETE FROM web_session WHERE account = $1 AND secret_sha256 <> $2)sql"};
constexpr Statement kRemoveExpired{"identity_remove_expired_web_sessions", R"sql(
    DELETE FROM web_session WHERE secret_sha256 IN (
        SELECT secret_sha256 FROM web_session WHERE expires_at < now() ORDER BY expires_at LIMIT 10000))sql"};

} // namespace

void insert_web_session(pqxx::work& transaction, const NewWebSession& session)
{
    const char* const account = session.account ? session.account->c_str() : nullptr;
    exec(transaction, kRemoveOldest, session.token_id, session.most_of_token - 1);
    exec(transaction, kInsert, session.secret_sha256, session.token_id, account, session.valid_s);
}

std::optional<WebSessionRow> find_web_session(pqxx::work& transaction, const std::string& secret_sha256)
{
    const pqxx::result rows = exec(transaction, kFind, secret_sha256);
    if (rows.empty()) return std::nullopt;
    WebSessionRow session;
    if (!rows[0][0].is_null()) session.account = rows[0][0].as<std::string>();
    session.expires_at = to_timestamp(rows[0][1]);
    session.has_password = rows[0][2].as<bool>();
    return session;
}

void remove_web_session(pqxx::work& transaction, const std::string& secret_sha256)
{
    exec(transaction, kRemove, secret_sha256);
}

void remove_web_sessions_of(pqxx::work& transaction, const std::string& account, const std::string& but_secret_sha256)
{
    exec(transaction, kRemoveOf, account, but_secret_sha256);
}

Result<void> remove_expired_web_sessions(pqxx::work& transaction)
{
    exec(transaction, kRemoveExpired);
    return {};
}

} // namespace fathom::server
