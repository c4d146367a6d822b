#pragma once

#include "core/base/clock.hpp"
#include "server/identity/principal.hpp"
#include "server/store/transaction.hpp"

#include <optional>
#include <string>
#include <vector>

namespace fathom::server {

/// One row of api_token. Times as RFC 3339 text, as they are shown.
struct TokenRow {
    std::string id;
    std::string name;
    std::string role;
    std::string created_at;
    std::string created_by;
    std::optional<std::string> expires_at;
    std::optional<std::string> revoked_at;
};

/// What authentication needs of a usable token.
struct UsableToken {
    Principal principal;
    std::optional<Timestamp> expires_at;
};

// Each runs in the caller's transaction and throws libpqxx's exceptions.

/// Serializes bootstrap and revocation, which count admin tokens.
void lock_admin_tokens(pqxx::work& transaction);
/// Tokens with role admin that work now.
std::int64_t count_usable_admin_tokens(pqxx::work& transaction);

struct NewToken {
    std::string id;
    std::string name;
    std::string secret_sha256;
    Role role{Role::kViewer};
    std::string created_by;
    std::optional<std::int64_t> valid_s;
};
TokenRow insert_token(pqxx::work& transaction, const NewToken& token);
/// Empty when there is none, or it is expired or revoked.
std::optional<UsableToken> find_usable_token(pqxx::work& transaction, const std::string& secret_sha256);
/// Whose browser it is. Empty when there is none, it is over, or what it was opened with no longer works.
std::optional<UsableToken> find_usable_session(pqxx::work& transaction, const std::string& secret_sha256);
/// Accounts' identities are no tokens here.
std::optional<TokenRow> find_token(pqxx::work& transaction, const std::string& id);
/// Newest first, ids below `after` (empty: from the newest).
std::vector<TokenRow> list_tokens(pqxx::work& transaction, const std::string& after, std::int64_t limit);
/// Sets revoked_at once.
void revoke_token(pqxx::work& transaction, const std::string& id);

} // namespace fathom::server
