#include "server/identity/oidc/oidc_store.hpp"

#include "server/store/statement.hpp"

namespace fathom::server {
namespace {

constexpr Statement kRemoveOldest{"identity_remove_oldest_oidc_sign_ins", R"sql(
    DELETE FROM oidc_sign_in WHERE state_sha256 IN (
        SELECT state_sha256 FROM oidc_sign_in ORDER BY expires_at DESC OFFSET $1))sql"};
constexpr Statement kInsert{"identity_insert_oidc_sign_in", R"sql(
    INSERT INTO oidc_sign_in (state_sha256, browser_sha256, nonce, code_verifier, return_to, expires_at)
    VALUES ($1, $2, $3, $4, $5, now() + make_interval(secs => $6::bigint)))sql"};
constexpr Statement kTake{"identity_take_oidc_sign_in", R"sql(
    DELETE FROM oidc_sign_in WHERE state_sha256 = $1 AND browser_sha256 = $2 AND expires_at > now()
    RETURNING nonce, code_verifier, return_to)sql"};
constexpr Statement kRemoveExpired{"identity_remove_expired_oidc_sign_ins", R"sql(
    DELETE FROM oidc_sign_in WHERE state_sha256 IN (
        SELECT state_sha256 FROM oidc_sign_in WHERE expires_at < now() ORDER BY expires_at LIMIT 10000))sql"};
constexpr Statement kFindLinked{"identity_find_linked_account", R"sql(
    SELECT a.name, a.token_id, t.role, t.revoked_at IS NOT NULL
    FROM user_account a JOIN api_token t ON t.id = a.token_id WHERE a.issuer = $1 AND a.subject = $2)sql"};
constexpr Statement kIsTaken{"identity_is_name_taken", R"sql(
    SELECT EXISTS (SELECT 1 FROM user_account WHERE name = $1)
        OR EXISTS (SELECT 1 FROM api_token WHERE name = $1 AND revoked_at IS NULL))sql"};

} // namespace

void insert_oidc_sign_in(pqxx::work& transaction, const NewOidcSignIn& sign_in)
{
    exec(transaction, kRemoveOldest, sign_in.most - 1);
    exec(transaction, kInsert, sign_in.state_sha256, sign_in.browser_sha256, sign_in.nonce, sign_in.code_verifier,
         sign_in.return_to, sign_in.valid_s);
}

std::optional<OidcSignInRow> take_oidc_sign_in(pqxx::work& transaction, const std::string& state_sha256,
                                               const std::string& browser_sha256)
{
    const pqxx::result rows = exec(transaction, kTake, state_sha256, browser_sha256);
    if (rows.empty()) return std::nullopt;
    return OidcSignInRow{rows[0][0].as<std::string>(), rows[0][1].as<std::string>(), rows[0][2].as<std::string>()};
}

Result<void> remove_expired_oidc_sign_ins(pqxx::work& transaction)
{
    exec(transaction, kRemoveExpired);
    return {};
}

std::optional<LinkedAccount> find_linked_account(pqxx::work& transaction, const std::string& issuer,
                                                 const std::string& subject)
{
    const pqxx::result rows = exec(transaction, kFindLinked, issuer, subject);
    if (rows.empty()) return std::nullopt;
    LinkedAccount account;
    account.principal.name = rows[0][0].as<std::string>();
    account.principal.token_id = TokenId{rows[0][1].as<std::string>()};
    account.principal.role = parse_role(rows[0][2].as<std::string>()).value_or(Role::kViewer); // the table has a CHECK
    account.is_disabled = rows[0][3].as<bool>();
    return account;
}

bool is_name_taken(pqxx::work& transaction, const std::string& name)
{
    return exec(transaction, kIsTaken, name)[0][0].as<bool>();
}

} // namespace fathom::server
