#pragma once

#include "core/base/clock.hpp"
#include "core/base/json_reader.hpp"
#include "server/identity/oidc/https_fetch.hpp"
#include "server/identity/oidc/oidc_settings.hpp"
#include "server/identity/oidc/person.hpp"

#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace fathom::server {

/// The OpenID Connect provider, as a relying party sees it: authorization code flow with PKCE (OpenID Connect Core 1.0,
/// Discovery 1.0, RFC 7636, RFC 9207). What it publishes of itself is kept for ten minutes. Every call blocks, ten
/// seconds at most. Thread-safe.
class IdentityProvider {
  public:
    /// The clock must outlive it.
    IdentityProvider(OidcSettings settings, Fetch fetch, const Clock& clock);

    struct Authorization {
        std::string state;
        std::string nonce;
        std::string code_verifier;
    };
    /// Where the browser goes to sign in.
    /// @error kUnavailable, kDeadline  the provider cannot be reached.
    /// @error kInvalid                 what it publishes of itself is no such document, or is another issuer's.
    Result<std::string> authorization_url(const Authorization& authorization);

    struct Redemption {
        std::string code;
        std::string code_verifier;
        std::string nonce;
        std::string issuer; ///< that the browser brought with the code (RFC 9207); empty: none
    };
    /// Exchanges the code for tokens, believes them when all is right, and asks the provider for what they leave out.
    /// @error kUnavailable, kDeadline  the provider cannot be reached.
    /// @error kForbidden               it takes the client or the code for nothing; the detail has its own word.
    /// @error kInvalid                 what it answers is wrong: a token that is forged, old, or for somebody else.
    Result<Person> redeem(const Redemption& redemption);

  private:
    struct Published {
        std::string authorization_endpoint;
        std::string token_endpoint;
        std::string userinfo_endpoint; ///< empty: none
        std::string jwks_uri;
        std::vector<std::string> client_authentications;
        bool names_itself{}; ///< in what the browser brings (RFC 9207)
    };
    struct Tokens {
        std::string id_token;
        std::string access_token;
    };
    /// Until when a call must be done.
    using Deadline = std::chrono::steady_clock::time_point;

    Result<Json> fetch_json(const FetchOrder& order, Deadline deadline, std::string_view what);
    Result<Published> published(Deadline deadline);
    Result<Published> discover(Deadline deadline);
    Result<Json> keys(const Published& published, Deadline deadline, bool must_be_new);
    Result<FetchOrder> token_order(const Published& published, const Redemption& redemption) const;
    Result<Tokens> exchange(const Published& published, const Redemption& redemption, Deadline deadline);
    Result<Json> believe(const Published& published, const Tokens& tokens, const std::string& nonce, Deadline deadline);
    Result<void> add_userinfo(const Published& published, const Tokens& tokens, Json& claims, Deadline deadline);

    const OidcSettings settings_;
    const Fetch fetch_;
    const Clock* clock_;
    std::mutex mutex_; ///< held while the provider is asked for what it publishes: who needs it waits for it
    std::optional<Published> published_;
    Timestamp published_until_{};
    std::optional<Error> failure_; ///< of the last look, which is not repeated for a moment
    Timestamp failure_until_{};
    std::optional<Json> keys_;
    Timestamp keys_until_{};
    Timestamp keys_again_{}; ///< not sooner for the sake of a key that is not there
};

} // namespace fathom::server
