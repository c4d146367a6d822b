#pragma once

#include "server/identity/principal.hpp"
#include "server/store/transaction.hpp"

#include <optional>
#include <string>
#include <vector>

namespace fathom::server {

/// Somebody who may sign in, with a password or by a provider. Times as RFC 3339 text, as they are shown.
struct AccountRow {
    std::string name;
    std::string token_id; ///< the identity: jobs and members of projects name it
    std::string role;
    std::string created_at;
    std::optional<std::string> disabled_at;
    std::optional<std::string> last_sign_in_at;
    std::optional<std::string> issuer; ///< the provider that signs them in; empty: they have a password
};

/// What signing in needs of an account.
struct AccountSecret {
    Principal principal;
    std::string password_hash; ///< empty: signs in by a provider, and never with a password
    bool is_disabled{};
};

// Each runs in the caller's transaction and throws libpqxx's exceptions.

struct NewAccount {
    std::string name;
    std::string token_id;
    std::string secret_sha256; ///< of a secret that nobody is told
    std::string password_hash; ///< empty: signs in by a provider
    std::string issuer = {};   ///< of the provider
    std::string subject = {};  ///< who it is there
    Role role{Role::kViewer};
    std::string created_by;
};
/// False when there is an account of this name.
bool insert_account(pqxx::work& transaction, const NewAccount& account);
std::optional<AccountRow> find_account(pqxx::work& transaction, const std::string& name);
std::optional<AccountSecret> find_account_secret(pqxx::work& transaction, const std::string& name);
/// By name, those after `after`.
std::vector<AccountRow> list_accounts(pqxx::work& transaction, const std::string& after, std::int64_t limit);

void set_account_role(pqxx::work& transaction, const std::string& name, Role role);
void set_account_password(pqxx::work& transaction, const std::string& name, const std::string& password_hash);
void set_account_disabled(pqxx::work& transaction, const std::string& name, bool is_disabled);
void note_sign_in(pqxx::work& transaction, const std::string& name);
/// The identity stays, revoked: what it did still names it.
void remove_account(pqxx::work& transaction, const std::string& name);

} // namespace fathom::server
