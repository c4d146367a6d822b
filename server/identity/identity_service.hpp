#pragma once

#include "core/base/metrics.hpp"
#include "server/identity/api_credential.hpp"
#include "server/identity/failure_limiter.hpp"
#include "server/identity/identity_store.hpp"
#include "server/identity/token_cache.hpp"
#include "server/store/database.hpp"
#include "server/store/notifier.hpp"

namespace fathom::server {

/// Who calls, and the tokens they call with. Thread-safe.
class IdentityService {
  public:
    /// Subscribes to topic "identity", with which replicas tell each other of revocations; call before
    /// notifier.start(). All must outlive the service.
    /// @param longest_validity  of new tokens, and that of those for which none is asked; 0: they may be good for ever.
    IdentityService(Database& database, Notifier& notifier, const Clock& clock, Metrics& metrics,
                    std::chrono::seconds longest_validity = std::chrono::seconds(0));

    /// Who sent this. Answers from memory when the token or session was good less than 5 s ago.
    /// @error kUnauthenticated  no, malformed, unknown, expired or revoked token, or a session that is over.
    /// @error kTooMany          too many failures from this network.  Others as Database::run.
    asio::awaitable<Result<Principal>> authenticate(ApiCredential credential, std::string remote_address);

    /// Whether what was good before still is, and whose it is is still allowed. A database that does not answer changes
    /// nothing, and nobody counts as guessing.
    asio::awaitable<bool> still_allows(ApiCredential credential, std::function<bool(const Principal&)> allows);

    /// After a change of tokens, sessions or accounts: this replica looks anew at once. The others do when they hear of
    /// the topic "identity".
    void forget_known() { cache_.clear(); }

    /// A token and its secret, which is shown once and never kept.
    struct CreatedToken {
        TokenRow row;
        std::string secret;
    };
    struct TokenRequest {
        std::string name;
        Role role{Role::kViewer};
        std::optional<std::int64_t> valid_s;
    };
    /// @error kInvalid  it shall be good for longer than tokens may.
    asio::awaitable<Result<CreatedToken>> create_token(Principal actor, TokenRequest wanted, std::string request_id);
    /// Newest first.
    asio::awaitable<Result<std::vector<TokenRow>>> list_tokens(std::string after, std::int64_t limit);
    /// Revoking a revoked token changes nothing.
    /// @error kNotFound  no such token.
    /// @error kConflict  it is the last admin token that works.
    asio::awaitable<Result<void>> revoke_token(Principal actor, std::string id, std::string request_id);

  private:
    Result<Principal> reject(std::string why) const;

    Database* database_;
    const Clock* clock_;
    const std::chrono::seconds longest_validity_;
    TokenCache cache_;
    FailureLimiter limiter_;
    Metrics::Counter failures_;
    Metrics::Counter limited_;
};

} // namespace fathom::server
