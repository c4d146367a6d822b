#include "server/identity/account_store.hpp"

#include "server/store/statement.hpp"

namespace fathom::server {
namespace {

constexpr Statement kInsertIdentity{"identity_insert_account_token", R"sql(
    INSERT INTO api_token (id, name, secret_sha256, role, created_by, kind) VALUES ($1, $2, $3, $4, $5, 'account'))sql"};
constexpr Statement kInsert{"identity_insert_account", R"sql(
    INSERT INTO user_account (name, token_id, password_hash, issuer, subject)
    VALUES ($1, $2, nullif($3, ''), nullif($4, ''), nullif($5, '')))sql"};
#define FATHOM_ACCOUNT_COLUMNS                                                                                         \
    "SELECT a.name, a.token_id, t.role,"                                                                               \
    " to_char(a.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS.US\"Z\"'),"                                  \
    " to_char(t.revoked_at AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS.US\"Z\"'),"                                  \
    " to_char(a.last_sign_in_at AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS.US\"Z\"'), a.issuer"                    \
    " FROM user_account a JOIN api_token t ON t.id = a.token_id "
constexpr Statement kFind{"identity_find_account", FATHOM_ACCOUNT_COLUMNS "WHERE a.name = $1"};
constexpr Statement kFindSecret{"identity_find_account_secret", R"sql(
    SELECT a.token_id, t.role, coalesce(a.password_hash, ''), t.revoked_at IS NOT NULL
    FROM user_account a JOIN api_token t ON t.id = a.token_id WHERE a.name = $1)sql"};
constexpr Statement kList{"identity_list_accounts",
                          FATHOM_ACCOUNT_COLUMNS "WHERE a.name > $1 ORDER BY a.name LIMIT $2"};
constexpr Statement kSetRole{"identity_set_account_role", R"sql(
    UPDATE api_token SET role = $2 WHERE id = (SELECT token_id FROM user_account WHERE name = $1))sql"};
constexpr Statement kSetPassword{"identity_set_account_password", R"sql(
    UPDATE user_account SET password_hash = $2 WHERE name = $1)sql"};
constexpr Statement kSetDisabled{"identity_set_account_disabled", R"sql(
    UPDATE api_token SET revoked_at = CASE WHEN $2::boolean THEN coalesce(revoked_at, now()) END
    WHERE id = (SELECT token_id FROM user_account WHERE name = $1))sql"};
constexpr Statement kNoteSignIn{"identity_note_sign_in", R"sql(
    UPDATE user_account SET last_sign_in_at = now() WHERE name = $1)sql"};
constexpr Statement kRemove{"identity_remove_account", "DELETE FROM user_account WHERE name = $1"};

AccountRow to_account_row(const pqxx::row& row)
{
    const auto optional_text = [](const pqxx::field& field) {
        return field.is_null() ? std::nullopt : std::optional(field.as<std::string>());
    };
    return {row[0].as<std::string>(), row[1].as<std::string>(), row[2].as<std::string>(), row[3].as<std::string>(),
            optional_text(row[4]),    optional_text(row[5]),    optional_text(row[6])};
}

} // namespace

bool insert_account(pqxx::work& transaction, const NewAccount& account)
{
    if (find_account(transaction, account.name)) return false;
    exec(transaction, kInsertIdentity, account.token_id, account.name, account.secret_sha256,
         std::string(to_string(account.role)), account.created_by);
    exec(transaction, kInsert, account.name, account.token_id, account.password_hash, account.issuer, account.subject);
    return true;
}

std::optional<AccountRow> find_account(pqxx::work& transaction, const std::string& name)
{
    const pqxx::result rows = exec(transaction, kFind, name);
    if (rows.empty()) return std::nullopt;
    return to_account_row(rows[0]);
}

std::optional<AccountSecret> find_account_secret(pqxx::work& transaction, const std::string& name)
{
    const pqxx::result rows = exec(transaction, kFindSecret, name);
    if (rows.empty()) return std::nullopt;
    const pqxx::row row = rows[0];
    AccountSecret account;
    account.principal.token_id = TokenId{row[0].as<std::string>()};
    account.principal.name = name;
    account.principal.role = parse_role(row[1].as<std::string>()).value_or(Role::kViewer); // the table has a CHECK
    account.password_hash = row[2].as<std::string>();
    account.is_disabled = row[3].as<bool>();
    return account;
}

std::vector<AccountRow> list_accounts(pqxx::work& transaction, const std::string& after, std::int64_t limit)
{
    std::vector<AccountRow> accounts;
    for (const pqxx::row& row : exec(transaction, kList, after, limit))
        accounts.push_back(to_account_row(row));
    return accounts;
}

void set_account_role(pqxx::work& transaction, const std::string& name, Role role)
{
    exec(transaction, kSetRole, name, std::string(to_string(role)));
}

void set_account_password(pqxx::work& transaction, const std::string& name, const std::string& password_hash)
{
    exec(transaction, kSetPassword, name, password_hash);
}

void set_account_disabled(pqxx::work& transaction, const std::string& name, bool is_disabled)
{
    exec(transaction, kSetDisabled, name, is_disabled);
}

void note_sign_in(pqxx::work& transaction, const std::string& name)
{
    exec(transaction, kNoteSignIn, name);
}

void remove_account(pqxx::work& transaction, const std::string& name)
{
    set_account_disabled(transaction, name, true);
    exec(transaction, kRemove, name);
}

} // namespace fathom::server
