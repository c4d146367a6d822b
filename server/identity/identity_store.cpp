#include "server/identity/identity_store.hpp"

#include "core/base/json_reader.hpp"
#include "server/store/statement.hpp"

namespace fathom::server {
namespace {

#define FATHOM_TOKEN_COLUMNS                                                                                           \
    " id, name, role,"                                                                                                 \
    " to_char(created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS.US\"Z\"'), created_by,"                        \
    " to_char(expires_at AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS.US\"Z\"'),"                                    \
    " to_char(revoked_at AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS.US\"Z\"') "
#define FATHOM_TOKEN_USABLE " revoked_at IS NULL AND (expires_at IS NULL OR expires_at > now()) "

constexpr Statement kLock{"identity_lock_admin_tokens", "SELECT pg_advisory_xact_lock(7233003)"};
constexpr Statement kCountAdmins{"identity_count_admins",
                                 "SELECT count(*) FROM api_token WHERE role = 'admin' AND" FATHOM_TOKEN_USABLE};
constexpr Statement kInsert{"identity_insert_token",
                            "INSERT INTO api_token (id, name, secret_sha256, role, created_by, expires_at)"
                            " VALUES ($1, $2, $3, $4, $5, now() + make_interval(secs => $6::bigint))"
                            " RETURNING" FATHOM_TOKEN_COLUMNS};
// What it sees in projects besides its own jobs.
#define FATHOM_PROJECT_ROLES                                                                                           \
    " (SELECT jsonb_object_agg(m.project, m.role)::text FROM project_member m"                                         \
    " WHERE m.token_id = t.id AND m.role <> 'submitter')"
constexpr Statement kFindUsable{"identity_find_usable_token",
                                "SELECT t.id, t.name, t.role,"
                                " (extract(epoch FROM t.expires_at) * 1000000)::bigint," FATHOM_PROJECT_ROLES
                                " FROM api_token t WHERE t.secret_sha256 = $1 AND" FATHOM_TOKEN_USABLE};
constexpr Statement kFindUsableSession{
    "identity_find_usable_session",
    "SELECT t.id, t.name, t.role,"
    " (extract(epoch FROM least(s.expires_at, t.expires_at)) * 1000000)::bigint," FATHOM_PROJECT_ROLES
    " FROM web_session s JOIN api_token t ON t.id = s.token_id"
    " WHERE s.secret_sha256 = $1 AND s.expires_at > now()"
    " AND t.revoked_at IS NULL AND (t.expires_at IS NULL OR t.expires_at > now())"};
constexpr Statement kFind{"identity_find_token",
                          "SELECT" FATHOM_TOKEN_COLUMNS "FROM api_token WHERE id = $1 AND kind = 'token'"};
constexpr Statement kList{"identity_list_tokens",
                          "SELECT" FATHOM_TOKEN_COLUMNS
                          "FROM api_token WHERE ($1 = '' OR id < $1) AND kind = 'token' ORDER BY id DESC LIMIT $2"};
constexpr Statement kRevoke{"identity_revoke_token",
                            "UPDATE api_token SET revoked_at = now() WHERE id = $1 AND revoked_at IS NULL"};

std::optional<std::string> optional_text(const pqxx::field& field)
{
    if (field.is_null()) return std::nullopt;
    return field.as<std::string>();
}

TokenRow to_token_row(const pqxx::row& row)
{
    return {row[0].as<std::string>(), row[1].as<std::string>(), row[2].as<std::string>(), row[3].as<std::string>(),
            row[4].as<std::string>(), optional_text(row[5]),    optional_text(row[6])};
}

std::map<std::string, ProjectRole, std::less<>> to_project_roles(const pqxx::field& field)
{
    std::map<std::string, ProjectRole, std::less<>> roles;
    if (field.is_null()) return roles;
    const Json json = Json::parse(field.c_str());
    for (const auto& [project, role] : json.items()) {
        if (const std::optional<ProjectRole> known = parse_project_role(role.get<std::string>()))
            roles.emplace(project, *known);
    }
    return roles;
}

std::optional<UsableToken> to_usable_token(const pqxx::result& rows)
{
    if (rows.empty()) return std::nullopt;
    const pqxx::row row = rows[0];
    UsableToken token;
    token.principal.token_id = TokenId{row[0].as<std::string>()};
    token.principal.name = row[1].as<std::string>();
    token.principal.role = parse_role(row[2].as<std::string>()).value_or(Role::kViewer); // the table has a CHECK
    if (!row[3].is_null()) token.expires_at = Timestamp(std::chrono::microseconds(row[3].as<std::int64_t>()));
    token.principal.projects = to_project_roles(row[4]);
    return token;
}

} // namespace

void lock_admin_tokens(pqxx::work& transaction)
{
    exec(transaction, kLock);
}

std::int64_t count_usable_admin_tokens(pqxx::work& transaction)
{
    return exec(transaction, kCountAdmins)[0][0].as<std::int64_t>();
}

TokenRow insert_token(pqxx::work& transaction, const NewToken& token)
{
    const std::string role(to_string(token.role));
    const std::string valid_s = token.valid_s ? std::to_string(*token.valid_s) : std::string();
    const char* const valid = token.valid_s ? valid_s.c_str() : nullptr;
    return to_token_row(
        exec(transaction, kInsert, token.id, token.name, token.secret_sha256, role, token.created_by, valid)[0]);
}

std::optional<UsableToken> find_usable_token(pqxx::work& transaction, const std::string& secret_sha256)
{
    return to_usable_token(exec(transaction, kFindUsable, secret_sha256));
}

std::optional<UsableToken> find_usable_session(pqxx::work& transaction, const std::string& secret_sha256)
{
    return to_usable_token(exec(transaction, kFindUsableSession, secret_sha256));
}

std::optional<TokenRow> find_token(pqxx::work& transaction, const std::string& id)
{
    const pqxx::result rows = exec(transaction, kFind, id);
    if (rows.empty()) return std::nullopt;
    return to_token_row(rows[0]);
}

std::vector<TokenRow> list_tokens(pqxx::work& transaction, const std::string& after, std::int64_t limit)
{
    std::vector<TokenRow> tokens;
    for (const pqxx::row& row : exec(transaction, kList, after, limit))
        tokens.push_back(to_token_row(row));
    return tokens;
}

void revoke_token(pqxx::work& transaction, const std::string& id)
{
    exec(transaction, kRevoke, id);
}

} // namespace fathom::server
