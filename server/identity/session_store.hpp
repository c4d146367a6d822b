#pragma once

#include "core/base/clock.hpp"
#include "server/store/transaction.hpp"

#include <optional>
#include <string>

namespace fathom::server {

// Each runs in the caller's transaction and throws libpqxx's exceptions.

struct NewWebSession {
    std::string secret_sha256;
    std::string token_id;               ///< whose
    std::optional<std::string> account; ///< empty: signed in with an API token
    std::int64_t valid_s{};
    std::int64_t most_of_token{}; ///< with this one; the oldest end
};
void insert_web_session(pqxx::work& transaction, const NewWebSession& session);

struct WebSessionRow {
    std::optional<std::string> account;
    Timestamp expires_at{};
    bool has_password{}; ///< the account; false where a token or a provider signed in
};
std::optional<WebSessionRow> find_web_session(pqxx::work& transaction, const std::string& secret_sha256);
void remove_web_session(pqxx::work& transaction, const std::string& secret_sha256);
/// All of an account but one.
void remove_web_sessions_of(pqxx::work& transaction, const std::string& account, const std::string& but_secret_sha256);
/// For the clean-up periodic task: some of those that are over.
Result<void> remove_expired_web_sessions(pqxx::work& transaction);

} // namespace fathom::server
