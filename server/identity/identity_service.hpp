#pragma once

#include "core/base/metrics.hpp"
#include "server/identity/failure_limiter.hpp"
#include "server/identity/identity_store.hpp"
#include "server/identity/token_cache.hpp"
#include "server/store/database.hpp"
#include "server/store/notifier.hpp"

namespace fathom::server {

inline constexpr std::string_view kApiSecretPrefix = "fth_";

/// The form of an API token, whether or not it exists.
bool is_api_secret(std::string_view text);

/// Who calls, and the tokens they call with. Thread-safe.
class IdentityService {
  public:
    /// Subscribes to topic "identity", with which replicas tell each other of revocations; call before
    /// notifier.start(). All must outlive the service.
    /// @param longest_validity  of new tokens, and that of those for which none is asked; 0: they may be good for ever.
    IdentityService(Database& database, Notifier& notifier, const Clock& clock, Metrics& metrics,
                    std::chrono::seconds longest_validity = std::chrono::seconds(0));

    /// Who sent this Authorization header. Answers from memory when the token was good less than 5 s ago.
    /// @error kUnauthenticated  no, malformed, unknown, expired or revoked token.
    /// @error kTooMany          too many failures from this network.  Others as Database::run.
    asio::awaitable<Result<Principal>> authenticate(std::string authorization, std::string remote_address);

    /// Whether a header that was good before still is, and has the permission. A database that does not answer
    /// changes nothing, and nobody counts as guessing.
    asio::awaitable<bool> still_allows(std::string authorization, Permission needed);

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
