#pragma once

#include "core/base/result.hpp"
#include "server/identity/principal.hpp"
#include "server/store/transaction.hpp"

#include <optional>
#include <string>

namespace fathom::server {

// Each runs in the caller's transaction and throws libpqxx's exceptions.

/// A sign-in that a browser begins at the provider.
struct NewOidcSignIn {
    std::string state_sha256;
    std::string browser_sha256;
    std::string nonce;
    std::string code_verifier;
    std::string return_to;
    std::int64_t valid_s{};
    std::int64_t most{}; ///< with this one; those that began first end
};
void insert_oidc_sign_in(pqxx::work& transaction, const NewOidcSignIn& sign_in);

struct OidcSignInRow {
    std::string nonce;
    std::string code_verifier;
    std::string return_to;
};
/// Takes it away, so that it is found once. Empty when there is none, it is over, or another browser began it.
std::optional<OidcSignInRow> take_oidc_sign_in(pqxx::work& transaction, const std::string& state_sha256,
                                               const std::string& browser_sha256);
/// For the clean-up periodic task: some of those that are over.
Result<void> remove_expired_oidc_sign_ins(pqxx::work& transaction);

/// Whose account is linked to somebody at a provider.
struct LinkedAccount {
    Principal principal; ///< named as the account
    bool is_disabled{};
};
std::optional<LinkedAccount> find_linked_account(pqxx::work& transaction, const std::string& issuer,
                                                 const std::string& subject);
/// Whether an account has the name, or a token or identity that is not revoked.
bool is_name_taken(pqxx::work& transaction, const std::string& name);

} // namespace fathom::server
